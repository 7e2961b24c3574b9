import type { EventEmitter } from 'node:events';
import { type AddressInfo, createServer, type Server as Listener } from 'node:net';
import type { Readable } from 'node:stream';
import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type sendUnaryData,
  status,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { personalAnswers } from '../../generated/proto/rights.js';
import { asServiceError, ErrorCode, ServiceError } from '../errors/service-error.js';
import type { Log } from '../telemetry/log.js';
import type { RpcCallTimer } from '../telemetry/metrics.js';
import { type CallAudit, isWatched, readOf, refusalOf } from './call-audit.js';
import { onBehalfOf, remoteAddressOf } from './call-metadata.js';
import { type Authenticate, callersOf, type Identity, roleRights } from './callers.js';
import { type ConnectionLimits, Connections } from './connections.js';
import type { AnyMethod, AnyService } from './definitions.js';
import { toStatus } from './error-trailer.js';
import { type AdmittedCall, Gate } from './gate.js';
import { grpcStatusOf } from './grpc-status.js';
import type { CallContext, Handler, ServedService } from './handlers.js';
import { refusalLog } from './refusal-log.js';
import type { TokenLimits } from './token-shares.js';
import { untilWritable } from './until-writable.js';

const MAX_REQUEST_BYTES = 256 * 1_024;
const MAX_CALLS_PER_CONNECTION = 256;
const MAX_ANSWER_BYTES = 16 * 1_024 * 1_024;
/** How long a reader of many messages may take none. */
const READER_PATIENCE_MS = 120_000;

/** Faults on our side: the log gets their cause. */
const FAULTS: ReadonlySet<ErrorCode> = new Set([ErrorCode.INTERNAL_ERROR, ErrorCode.UNAVAILABLE]);

export interface RpcServerOptions {
  services: readonly ServedService[];
  authenticate: Authenticate;
  log: Log;
  timer: RpcCallTimer;
  audit: CallAudit;
  /** How often the tokens of calls that stay open are looked at again. */
  recheckTokensMs?: number;
  /** How long the message of a call may take to arrive. */
  arrivalMs?: number;
  connections?: Partial<ConnectionLimits>;
  tokens?: Partial<TokenLimits>;
}

/** What the four kinds of call have in common. */
type AnyCall = EventEmitter & { readonly metadata: Metadata; readonly cancelled: boolean; getPeer(): string };

/** A server in which no method can be reached but through its gate. */
export class RpcServer extends Server {
  readonly #listeners = new Set<Listener>();

  constructor(
    readonly gate: Gate,
    private readonly connections: Connections,
  ) {
    super({
      'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
      'grpc.max_concurrent_streams': MAX_CALLS_PER_CONNECTION,
      'grpc.max_send_message_length': MAX_ANSWER_BYTES,
      // A peer that has vanished is noticed.
      'grpc.keepalive_time_ms': 30_000,
      'grpc.keepalive_timeout_ms': 10_000,
      interceptors: [gate.interceptor],
    });
  }

  /** Takes the connections itself, so that they are counted before gRPC has them; those over a socket of this machine, which only our own user can open, are not. */
  listen(address: string, credentials: ServerCredentials): Promise<number> {
    const { injectConnection } = this.createConnectionInjector(credentials);
    const path = address.startsWith('unix:') ? address.slice('unix:'.length) : undefined;
    const listener = createServer({ noDelay: true }, (socket) => {
      if (path === undefined) {
        this.connections.opened(socket);
      }
      injectConnection(socket);
    });
    this.#listeners.add(listener);
    return new Promise((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(path === undefined ? hostAndPortOf(address) : { path }, () => {
        listener.removeListener('error', reject);
        resolve(path === undefined ? (listener.address() as AddressInfo).port : 0);
      });
    });
  }

  override tryShutdown(callback: (error?: Error) => void): void {
    const closed = this.#close();
    this.connections.cutStrangers();
    super.tryShutdown((error) => void closed.then(() => callback(error)));
  }

  override forceShutdown(): void {
    void this.#close();
    this.connections.cutAll();
    super.forceShutdown();
  }

  async #close(): Promise<void> {
    const closing = [...this.#listeners].map(
      (listener) => new Promise<void>((resolve) => listener.close(() => resolve())),
    );
    await Promise.all(closing);
  }
}

/** `127.0.0.1:4002`, `[::1]:4002`. */
function hostAndPortOf(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) };
}

export function createRpcServer(options: RpcServerOptions): RpcServer {
  const report = reporter(options);
  const logRefusal = refusalLog(options.log);
  const connections = new Connections(options.connections);
  const gate = new Gate({
    ...options,
    connections,
    onRefusal: (call) => {
      report({ ...call, code: codeOf(call.error) });
      logRefusal(call);
      const refusal = refusalOf(call);
      if (refusal) {
        options.audit.observe(refusal);
      }
    },
  });
  const server = new RpcServer(gate, connections);
  for (const { definition, handlers } of options.services) {
    const implementation = Object.entries(definition).map(([name, method]) => {
      gate.rule(method.path, { callers: callersOf(method.path) });
      return [name, adapt(method, handlers[name] ?? notImplemented, gate, options.audit, report)];
    });
    server.addService(takingBytes(definition), Object.fromEntries(implementation));
  }
  return server;
}

/** Answers are written by us, because grpc-js tells the peer in its own words what went wrong with one that cannot be. */
function takingBytes(definition: AnyService): AnyService {
  const methods = Object.entries(definition).map(([name, method]) => [
    name,
    { ...method, responseSerialize: (bytes: Buffer) => bytes },
  ]);
  return Object.fromEntries(methods) as AnyService;
}

export function bind(
  server: RpcServer,
  address: string,
  credentials = ServerCredentials.createInsecure(),
): Promise<number> {
  return server.listen(address, credentials);
}

/** Lets calls under way end, then closes; what is still open after the grace is cut. */
export async function closeRpcServer(server: RpcServer, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  const timer = setTimeout(() => server.forceShutdown(), graceMs);
  await closed;
  clearTimeout(timer);
}

interface EndedCall {
  method: string;
  requestId: string;
  startedAt: number;
  caller: Identity['caller'] | undefined;
  code: string;
  error?: ServiceError;
}

/** One line in the log and one in the metrics for each call, refused or not. */
function reporter({ log, timer }: RpcServerOptions) {
  return ({ method, requestId, startedAt, caller, code, error }: EndedCall): void => {
    if (error && FAULTS.has(error.code)) {
      const stack = error.cause instanceof Error ? error.cause.stack : undefined;
      log.error('call failed', { requestId, method, internal: error.internal, stack });
    }
    const durationMs = performance.now() - startedAt;
    timer(method.slice(1), code, durationMs);
    const level = caller && !roleRights.has(caller) ? 'info' : 'debug';
    log[level]('call', { requestId, method, caller, code, durationMs: Math.round(durationMs * 10) / 10 });
  };
}

function adapt(
  method: AnyMethod,
  handler: Handler<AnyMethod>,
  gate: Gate,
  audit: CallAudit,
  report: (call: EndedCall) => void,
): UntypedHandleCall {
  return async (call: AnyCall, callback?: sendUnaryData<unknown>) => {
    const admitted = gate.callOf(call.metadata);
    let failure: ServiceError | undefined;
    try {
      const { request } = call as unknown as { request: unknown };
      const context = contextOf(call, admitted);
      // Before the answer goes out: personal data that nobody is on record for is not handed out.
      const recordRead = async (found?: unknown) => {
        if (personalAnswers.has(method.path) && isWatched(context.caller)) {
          await audit.record(readOf(method.path, request, found, context));
        }
      };
      const answer = handler(method.requestStream ? messagesOf(call) : request, context);
      if (method.responseStream) {
        await recordRead();
        await pump(
          answer as unknown as AsyncIterable<unknown>,
          call as ServerWritableStream<unknown, unknown>,
          method.responseSerialize,
          () => admitted.end(notRead()),
        );
      } else {
        const found = await answer;
        await recordRead(found);
        callback?.(null, method.responseSerialize(found));
      }
    } catch (thrown) {
      failure = asServiceError(thrown);
      fail(call, callback, failure);
    }
    const { requestId, startedAt, identity } = admitted;
    const error = admitted.endedWith ?? failure;
    const code = error ? codeOf(error) : call.cancelled ? 'CANCELLED' : 'OK';
    report({ method: method.path, requestId, startedAt, caller: identity?.caller, code, error });
  };
}

function codeOf(error: ServiceError): string {
  return status[grpcStatusOf[error.code]] ?? 'UNKNOWN';
}

/** A handler that has read enough, or all, may still want to answer on the same call: its end must not destroy it. */
function messagesOf(call: AnyCall): AsyncIterable<unknown> {
  return (call as unknown as Readable).iterator({ destroyOnReturn: false });
}

/** Writes no faster than the peer reads. */
async function pump(
  messages: AsyncIterable<unknown>,
  call: ServerWritableStream<unknown, unknown>,
  serialize: (message: unknown) => Buffer,
  onStall: () => void,
): Promise<void> {
  for await (const message of messages) {
    if (call.cancelled || call.destroyed) {
      return;
    }
    if (!call.write(serialize(message))) {
      const patience = setTimeout(onStall, READER_PATIENCE_MS).unref();
      await untilWritable(call, 'cancelled').finally(() => clearTimeout(patience));
    }
  }
  call.end();
}

function notRead(): ServiceError {
  return new ServiceError(ErrorCode.UNAVAILABLE, 'The answer was not read for two minutes.');
}

function fail(call: AnyCall, callback: sendUnaryData<unknown> | undefined, error: ServiceError): void {
  const refusal = toStatus(error);
  if (callback) {
    callback(refusal);
  } else {
    call.emit('error', refusal);
  }
}

function contextOf(call: AnyCall, { requestId, identity }: AdmittedCall): CallContext {
  const { caller, tokenId, ownerId, instanceId } = identity as Identity;
  let controller: AbortController | undefined;
  return {
    requestId,
    caller,
    tokenId,
    ownerId,
    onBehalfOf: onBehalfOf(call.metadata),
    instanceId,
    get remoteAddress() {
      return remoteAddressOf(call.getPeer());
    },
    get signal() {
      if (!controller) {
        const made = new AbortController();
        controller = made;
        call.once('cancelled', () => made.abort());
        if (call.cancelled) {
          made.abort();
        }
      }
      return controller.signal;
    },
  };
}

const notImplemented: Handler<AnyMethod> = () => {
  throw new ServiceError(ErrorCode.NOT_IMPLEMENTED, 'This method is not part of this release yet.');
};
