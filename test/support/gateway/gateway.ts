import { rm } from 'node:fs/promises';
import type { Server } from '@grpc/grpc-js';
import { expect } from '@jest/globals';
import { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import { createGatewayApi } from '../../../src/edge/apis.js';
import type { ListenerOptions } from '../../../src/edge/http/listener.js';
import { newApiKey } from '../../../src/identifiers/api-key.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import { type Handlers, serve } from '../../../src/rpc/handlers.js';
import { createRpcServer } from '../../../src/rpc/server.js';
import { AnswerJudge } from '../contract/answer-judge.js';
import { startListener } from '../edge-listener.js';
import { type Exchange, exchange, type Question } from '../http-exchange.js';
import { patientAdmission } from '../patient-admission.js';
import { type RecordedLog, recordedLog } from '../recorded-log.js';
import { newTemporaryDirectory } from '../temporary-directory.js';
import { unheardAudit } from '../unheard-audit.js';

/** The public address, which is not where the test asks: behind a proxy it never is. */
export const GATEWAY_URL = 'https://gateway.example.com/under/a/path';

const judge = new AnswerJudge('gateway');

export type Directory = Handlers<typeof DirectoryServiceService>;

export interface Gateway extends RecordedLog {
  port: number;
  /** A key that can be one, for the domain to judge. */
  key: string;
  /** What the domain does from now on. */
  program(directory: Directory): void;
  /** Asks with the key, and fails unless the answer is one that the contract has for this operation. */
  ask(operationId: string, target: string, question?: Question): Promise<Exchange>;
  /** Cuts every connection, as a client does that goes away. */
  dropClients(): void;
  stopDomain(): void;
  /** Ends the requests that wait, as an edge does that stops. */
  endWaits(): void;
  stop(): Promise<void>;
}

/** A real gateway with a real gRPC server whose directory the test programs. */
export async function startGateway(
  environment: 'live' | 'demo' = 'demo',
  limits: Partial<ListenerOptions> = {},
): Promise<Gateway> {
  const folder = newTemporaryDirectory();
  const recorded = recordedLog();
  let directory: Directory = {};
  const server = await startDirectory(`unix:${folder}/domain.sock`, () => directory);
  const domain = new RpcChannel(`unix:${folder}/domain.sock`, 'token');
  const stopping = new AbortController();
  const api = await createGatewayApi({
    stopping: stopping.signal,
    environment,
    gatewayUrl: GATEWAY_URL,
    domain,
    log: recorded.log,
    admission: patientAdmission(),
  });
  const options = { ...limits, api: 'gateway', log: recorded.log };
  const { listener, port, stop } = await startListener(options, () => api);
  const key = newApiKey(environment);
  return {
    ...recorded,
    port,
    key,
    program: (next) => {
      directory = next;
    },
    ask: async (operationId, target, question = {}) => {
      const headers = { 'x-api-key': key, ...question.headers };
      const answer = await exchange(port, target, { ...question, headers });
      expect(judge.faultsOf(operationId, answer)).toEqual([]);
      return answer;
    },
    dropClients: () => listener.closeAllConnections(),
    stopDomain: () => server.forceShutdown(),
    endWaits: () => stopping.abort(),
    stop: async () => {
      await stop();
      domain.close();
      server.forceShutdown();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startDirectory(address: string, present: () => Directory): Promise<Server> {
  const names = Object.keys(DirectoryServiceService) as (keyof Directory)[];
  const handlers = Object.fromEntries(
    names.map((name) => [
      name,
      DirectoryServiceService[name].responseStream
        ? async function* (request: never, context: never) {
            yield* handlerOf(present(), name)(request, context) as unknown as AsyncIterable<never>;
          }
        : async (request: never, context: never) => handlerOf(present(), name)(request, context),
    ]),
  ) as Directory;
  const server = createRpcServer({
    services: [serve(DirectoryServiceService, handlers)],
    authenticate: () => ({ caller: 'edge' }),
    log: recordedLog().log,
    timer: () => undefined,
    audit: unheardAudit,
  });
  await server.listen(address);
  return server;
}

function handlerOf(directory: Directory, name: keyof Directory) {
  const handler = directory[name] as ((request: never, context: never) => Promise<never>) | undefined;
  if (!handler) {
    throw new Error(`the test has programmed no ${name}`);
  }
  return handler;
}
