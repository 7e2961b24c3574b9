import { type EventEmitter, once } from 'node:events';
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
import { asServiceError, ErrorCode, ServiceError } from '../errors/service-error.js';
import type { Log } from '../telemetry/log.js';
import type { RpcCallTimer } from '../telemetry/metrics.js';
import { bearerTokenOf, requestIdOf } from './call-metadata.js';
import type { Authenticate, Caller, Identity } from './callers.js';
import type { AnyMethod, AnyService } from './definitions.js';
import { toStatus } from './error-trailer.js';
import { grpcStatusOf } from './grpc-status.js';
import type { CallContext, Handler, ServedService } from './handlers.js';

/** A request is read before its token is looked at: few at a time and small, so that a connection of strangers cannot make us hold much. */
const MAX_REQUEST_BYTES = 256 * 1_024;
const MAX_CALLS_PER_CONNECTION = 256;
const MAX_ANSWER_BYTES = 16 * 1_024 * 1_024;

/** What is wrong on our side, for whoever reads the log. */
const FAULTS: ReadonlySet<ErrorCode> = new Set([ErrorCode.INTERNAL_ERROR, ErrorCode.UNAVAILABLE]);

export interface RpcServerOptions {
  services: readonly ServedService[];
  authenticate: Authenticate;
  log: Log;
  timer: RpcCallTimer;
}

/** What the four kinds of call have in common. */
type AnyCall = EventEmitter & { readonly metadata: Metadata; readonly cancelled: boolean; getPeer(): string };

/** A server in which no method can be reached without a token that may call it. */
export function createRpcServer(options: RpcServerOptions): Server {
  const server = new Server({
    'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
    'grpc.max_concurrent_streams': MAX_CALLS_PER_CONNECTION,
    'grpc.max_send_message_length': MAX_ANSWER_BYTES,
  });
  for (const service of options.services) {
    const implementation = Object.entries(service.definition).map(([name, method]) => [
      name,
      adapt(method, service.handlers[name] ?? notImplemented, service.callers, options),
    ]);
    server.addService(takingBytes(service.definition), Object.fromEntries(implementation));
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
  server: Server,
  address: string,
  credentials = ServerCredentials.createInsecure(),
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => (error ? reject(error) : resolve(port)));
  });
}

/** Lets calls under way end, then closes; what is still open after the grace is cut. */
export async function closeRpcServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  const timer = setTimeout(() => server.forceShutdown(), graceMs);
  await closed;
  clearTimeout(timer);
}

/** Authentication, then authorization: the same two steps before every handler. */
export async function admit(
  call: AnyCall,
  callers: readonly Caller[],
  authenticate: Authenticate,
): Promise<Identity> {
  const identity = await authenticate(bearerTokenOf(call.metadata));
  if (!callers.includes(identity.caller)) {
    throw new ServiceError(ErrorCode.CALLER_NOT_ALLOWED, 'This token may not call this service.');
  }
  return identity;
}

function adapt(
  method: AnyMethod,
  handler: Handler<AnyMethod>,
  callers: readonly Caller[],
  { authenticate, log, timer }: RpcServerOptions,
): UntypedHandleCall {
  return async (call: AnyCall, callback?: sendUnaryData<unknown>) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(call.metadata);
    let caller: Caller | undefined;
    let code = 'OK';
    try {
      const identity = await admit(call, callers, authenticate);
      caller = identity.caller;
      const context = contextOf(call, requestId, identity);
      const answer = handler(
        method.requestStream ? messagesOf(call) : (call as unknown as { request: unknown }).request,
        context,
      );
      if (method.responseStream) {
        await pump(
          answer as unknown as AsyncIterable<unknown>,
          call as ServerWritableStream<unknown, unknown>,
          method.responseSerialize,
        );
      } else {
        callback?.(null, method.responseSerialize(await answer));
      }
      if (call.cancelled) {
        code = 'CANCELLED';
      }
    } catch (thrown) {
      const error = asServiceError(thrown);
      code = status[grpcStatusOf[error.code]] ?? 'UNKNOWN';
      if (FAULTS.has(error.code)) {
        const stack = error.cause instanceof Error ? error.cause.stack : undefined;
        log.error('call failed', { requestId, method: method.path, internal: error.internal, stack });
      }
      fail(call, callback, error);
    }
    const durationMs = performance.now() - startedAt;
    timer(method.path.slice(1), code, durationMs);
    const level = caller === 'operator' || caller === 'platform' ? 'info' : 'debug';
    log[level]('call', {
      requestId,
      method: method.path,
      caller,
      code,
      durationMs: Math.round(durationMs * 10) / 10,
    });
  };
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
): Promise<void> {
  for await (const message of messages) {
    if (call.cancelled || call.destroyed) {
      return;
    }
    if (!call.write(serialize(message))) {
      await untilWritable(call);
    }
  }
  call.end();
}

/** Until the peer has read, or is gone. A stream may wait here often, so that nothing may stay behind on the call. */
async function untilWritable(call: ServerWritableStream<unknown, unknown>): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race(['drain', 'cancelled', 'close'].map((event) => once(call, event, { signal })));
  } finally {
    over.abort();
  }
}

function fail(call: AnyCall, callback: sendUnaryData<unknown> | undefined, error: ServiceError): void {
  const refusal = toStatus(error);
  if (callback) {
    callback(refusal);
  } else {
    call.emit('error', refusal);
  }
}

function contextOf(call: AnyCall, requestId: string, { caller, tokenId }: Identity): CallContext {
  let controller: AbortController | undefined;
  return {
    requestId,
    caller,
    tokenId,
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

/** `127.0.0.1:50123`, `[::1]:50123`; what comes over a socket has no address. */
function remoteAddressOf(peer: string): string | undefined {
  const [, address] = /^\[?([0-9a-fA-F.:]+?)\]?:\d+$/.exec(peer) ?? [];
  return address;
}

const notImplemented: Handler<AnyMethod> = () => {
  throw new ServiceError(ErrorCode.NOT_IMPLEMENTED, 'This method is not part of this release yet.');
};
