import { join } from 'node:path';
import type { ServerCredentials } from '@grpc/grpc-js';
import { afterEach } from '@jest/globals';
import { type Right, rights } from '../../generated/proto/rights.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import type { CallAudit } from '../../src/rpc/call-audit.js';
import { type Authenticate, callersOf } from '../../src/rpc/callers.js';
import { RpcChannel } from '../../src/rpc/client.js';
import type { ServedService } from '../../src/rpc/handlers.js';
import { createRpcServer, type RpcServer, type RpcServerOptions } from '../../src/rpc/server.js';
import type { Log, LogFields } from '../../src/telemetry/log.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { unheardAudit } from '../support/unheard-audit.js';

/** On a busy machine, a call may take longer than its default deadline. */
export const CALL = { requestId: 'r', deadlineMs: 20_000 };

/** A token for each right. */
export const TOKENS = Object.fromEntries(rights.map((right) => [right, `token-of-${right}`])) as Record<
  Right,
  string
>;

export interface LogLine extends LogFields {
  level: keyof Log;
  message: string;
}

export interface Timed {
  method: string;
  code: string;
  durationMs: number;
}

export interface RpcRig {
  server: RpcServer;
  address: string;
  lines: LogLine[];
  timed: Timed[];
  /** A channel to the server; with a token that may call its first service unless another is given. */
  channel(token?: string): RpcChannel;
}

export interface RigOptions {
  address?: string;
  credentials?: ServerCredentials;
  authenticate?: Authenticate;
  audit?: CallAudit;
  /** More on the same server, such as reflection. */
  prepare?: (server: RpcServer) => void;
  limits?: Partial<RpcServerOptions>;
}

/** Call it in a describe block; closes what its rigs opened after each test, or after all. */
export function rpcRigs(cleanUp = afterEach) {
  const directory = temporaryDirectories(cleanUp);
  const channels: RpcChannel[] = [];
  const servers: RpcServer[] = [];
  cleanUp(() => {
    for (const channel of channels.splice(0)) {
      channel.close();
    }
    for (const server of servers.splice(0)) {
      server.forceShutdown();
    }
  });

  async function start(services: readonly ServedService[], options: RigOptions = {}): Promise<RpcRig> {
    const { address = `unix:${join(directory(), 's')}`, authenticate = authenticateByTable } = options;
    const { log, lines } = recordingLog();
    const timed: Timed[] = [];
    const server = createRpcServer({
      ...options.limits,
      services,
      authenticate,
      log,
      audit: options.audit ?? unheardAudit,
      timer: (method, code, durationMs) => timed.push({ method, code, durationMs }),
    });
    options.prepare?.(server);
    servers.push(server);
    const port = await server.listen(address, options.credentials);
    const reachable = address.startsWith('unix:') ? address : address.replace(/:0$/, `:${port}`);
    return {
      server,
      address: reachable,
      lines,
      timed,
      channel: (token = tokenFor(services)) => channelTo(reachable, token),
    };
  }

  function channelTo(
    address: string,
    token: string | (() => string) = TOKENS.maintenance,
    options?: ConstructorParameters<typeof RpcChannel>[2],
  ): RpcChannel {
    const channel = new RpcChannel(address, token, options);
    channels.push(channel);
    return channel;
  }

  return { start, channelTo, directory };
}

function tokenFor([service]: readonly ServedService[]): string | undefined {
  const [caller] = callersOf(Object.values(service?.definition ?? {})[0]?.path ?? '');
  return caller && TOKENS[caller];
}

/** What the call failed with; it must fail with an error of ours. */
export async function refusalOf(call: Promise<unknown>): Promise<ServiceError> {
  const outcome = await call.then(
    (answer) => new Error(`It was answered: ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  );
  if (!(outcome instanceof ServiceError)) {
    throw outcome;
  }
  return outcome;
}

const authenticateByTable: Authenticate = (token) => {
  const caller = rights.find((right) => TOKENS[right] === token);
  if (caller) {
    return { caller };
  }
  throw new ServiceError(ErrorCode.SERVICE_TOKEN_INVALID, 'This service token is not valid here.');
};

function recordingLog(): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at =
    (level: keyof Log) =>
    (message: string, fields: LogFields = {}) => {
      lines.push({ ...fields, level, message });
    };
  return { log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, lines };
}
