import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { SignOnServiceService } from '../../../generated/proto/integration/sign_on/v1/sign_on.js';
import { createSignOnApi } from '../../../src/edge/apis.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import { type Handlers, serve } from '../../../src/rpc/handlers.js';
import { createRpcServer } from '../../../src/rpc/server.js';
import { AnswerJudge } from '../../support/contract/answer-judge.js';
import { startListener } from '../../support/edge-listener.js';
import { type Exchange, exchange, type Question } from '../../support/http-exchange.js';
import { patientAdmission } from '../../support/patient-admission.js';
import { type RecordedLog, recordedLog } from '../../support/recorded-log.js';
import { unheardAudit } from '../../support/unheard-audit.js';

/** The public address, which is not where the test asks: behind a proxy it never is. */
export const SIGN_ON_URL = 'https://sign-on.example.com';

export const FORM = 'application/x-www-form-urlencoded';

export const judge = new AnswerJudge('sign-on');

export type SignOnMethods = Handlers<typeof SignOnServiceService>;
export type MethodName = keyof SignOnMethods;

export interface SignOnServer extends RecordedLog {
  port: number;
  /** What the domain does from now on; each method it is not told is a fault. */
  program(methods: SignOnMethods): void;
  /** All that the domain was asked since it was programmed, method by method. */
  asked: { method: MethodName; request: Record<string, unknown> }[];
  /** Fails unless the answer is one that the contract has for this operation. */
  ask(operationId: string, target: string, question?: Question): Promise<Exchange>;
  /** The same without a judge, for what no operation is. */
  askAnything(target: string, question?: Question): Promise<Exchange>;
  stop(): Promise<void>;
}

export interface ServerOptions {
  environment?: 'live' | 'demo';
  signOnUrl?: string;
  /** Beyond them a request is refused before its path is looked at. */
  maxRequests?: number;
}

/** A real sign-on server before a real gRPC server that does what the test says. */
export async function startSignOn({
  environment = 'live',
  signOnUrl = SIGN_ON_URL,
  maxRequests,
}: ServerOptions = {}): Promise<SignOnServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sign-on-'));
  const address = `unix:${folder}/domain.sock`;
  const recorded = recordedLog();
  const asked: SignOnServer['asked'] = [];
  let methods: SignOnMethods = {};
  const handlers = Object.fromEntries(
    (Object.keys(SignOnServiceService) as MethodName[]).map((method) => [
      method,
      async (request: Record<string, unknown>, context: never) => {
        asked.push({ method, request });
        const handler = methods[method] as ((request: never, context: never) => Promise<never>) | undefined;
        if (!handler) {
          throw new Error(`the test has programmed no ${method}`);
        }
        return handler(request as never, context);
      },
    ]),
  );
  const rpc = createRpcServer({
    services: [serve(SignOnServiceService, handlers as SignOnMethods)],
    authenticate: () => ({ caller: 'edge' }),
    log: recordedLog().log,
    timer: () => undefined,
    audit: unheardAudit,
  });
  await rpc.listen(address);
  const domain = new RpcChannel(address, 'token');
  const gatewayUrl = 'https://gateway.example.com';
  const { log } = recorded;
  const admission = patientAdmission();
  const api = await createSignOnApi({ environment, gatewayUrl, signOnUrl, domain, log, admission });
  const edge = {
    ...({ api: 'sign-on', publicUrl: signOnUrl, log } as const),
    ...{ maxRequests, openHeadersAt: api.openHeadersAt },
  };
  const { port, stop } = await startListener(edge, () => api.dispatch);
  return {
    ...recorded,
    port,
    asked,
    program: (next) => {
      methods = next;
      asked.length = 0;
    },
    ask: async (operationId, target, question) => {
      const answer = await exchange(port, target, question);
      expect(judge.faultsOf(operationId, answer)).toEqual([]);
      return answer;
    },
    askAnything: (target, question) => exchange(port, target, question),
    stop: async () => {
      await stop();
      domain.close();
      rpc.forceShutdown();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A POST of a form; fields that are lists come more than once. */
export function formPost(
  fields: Record<string, string | readonly string[]>,
  headers: Question['headers'] = {},
): Question {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  return {
    method: 'POST',
    headers: { 'content-type': FORM, ...headers },
    body: String(new URLSearchParams(pairs)),
  };
}

export function jsonPost(value: unknown, headers: Question['headers'] = {}): Question {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  };
}
