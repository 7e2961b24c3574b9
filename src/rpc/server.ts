import { type EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Server as Listener } from 'node:net';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type sendUnaryData,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { CallServiceService } from '../../generated/proto/integration/calls/v1/calls.js';
import { methodsWithinInstance } from '../../generated/proto/rights.js';
import { CallerLeft, ErrorCode, publicCode, ServiceError } from '../errors/service-error.js';
import { hostAndPortOf } from '../identifiers/network-address.js';
import { boundedWarnings, type Log } from '../telemetry/log.js';
import type { RpcCallTimer } from '../telemetry/metrics.js';
import { type CallAudit, refusalOf, tokenIdOf } from './call-audit.js';
import { ON_BEHALF_OF_KEY, recordableOnBehalfOf, remoteAddressOf, traceparentOf } from './call-metadata.js';
import { callersOf, type Identity } from './callers.js';
import { type ConnectionLimits, Connections } from './connections.js';
import { Endpoint, ReadTurns, reporter, statusNameOf } from './endpoint.js';
import { failureOf, toStatus } from './error-trailer.js';
import { type AdmittedCall, type AdmittedStream, Gate, type GateOptions, type MethodRule } from './gate.js';
import {
  type AnyMethod,
  type CallContext,
  type Handler,
  messageIn,
  refuseNul,
  type ServedService,
} from './handlers.js';
import { notRead, pump, READER_PATIENCE_MS } from './message-streams.js';
import { FRAME_BYTES, MAX_ANSWER_BYTES, MAX_REQUEST_BYTES, travelsInStreams } from './short-calls/frames.js';
import { ServedStreams } from './short-calls/served-streams.js';

const MAX_CALLS_PER_CONNECTION = 256;
const REFUSAL_LINES_PER_MINUTE = 60;
/** Every peer that reaches the port can cause them. */
const TLS_LINES_PER_MINUTE = 1;
const { exchange } = CallServiceService;

export interface RpcServerOptions extends Omit<GateOptions, 'onRefusal' | 'connections'> {
  services: readonly ServedService[];
  log: Log;
  timer: RpcCallTimer;
  audit: CallAudit;
  connections?: Partial<ConnectionLimits>;
  /** Whether a read of the handlers blocks the event loop. */
  readsBlock?: boolean;
}

/** The common interface of the four kinds of calls. */
type AnyCall = EventEmitter & { readonly metadata: Metadata; readonly cancelled: boolean };

/** A server that reaches methods only through its gate. */
export class RpcServer extends Server {
  readonly #listeners = new Set<Listener>();

  constructor(
    readonly gate: Gate,
    private readonly connections: Connections,
    private readonly streams: ServedStreams,
    private readonly endpointOf: (method: AnyMethod, handler: Handler<AnyMethod>) => Endpoint,
    private readonly onTlsFault: (what: string, peer: string | undefined, reason: string) => void,
  ) {
    super({
      'grpc.max_receive_message_length': MAX_REQUEST_BYTES + FRAME_BYTES,
      'grpc.max_concurrent_streams': MAX_CALLS_PER_CONNECTION,
      'grpc.max_send_message_length': MAX_ANSWER_BYTES + FRAME_BYTES,
      // Detects a vanished peer.
      'grpc.keepalive_time_ms': 30_000,
      'grpc.keepalive_timeout_ms': 10_000,
      interceptors: [gate.interceptor],
    });
  }

  /** Serves a method behind the gate, with log, metrics and audit. */
  serve(method: AnyMethod, handler: Handler<AnyMethod>, rule: MethodRule): Endpoint {
    const endpoint = this.endpointOf(method, handler);
    const { path } = method;
    this.gate.rule(path, rule);
    this.addService({ [path]: takingBytes(method) }, { [path]: adapt(endpoint, this.gate) });
    return endpoint;
  }

  /** Accepts connections itself, to count them before gRPC does. Local sockets are not counted. */
  async listen(address: string, credentials = ServerCredentials.createInsecure()): Promise<number> {
    const { injectConnection } = this.createConnectionInjector(credentials);
    this.#watchTls();
    const path = address.startsWith('unix:') ? address.slice('unix:'.length) : undefined;
    const listener = createServer({ noDelay: true }, (socket) => {
      if (path === undefined) {
        this.connections.opened(socket);
      }
      injectConnection(socket);
    });
    this.#listeners.add(listener);
    listener.listen(path === undefined ? hostAndPortOf(address) : { path });
    await once(listener, 'listening');
    return path === undefined ? (listener.address() as AddressInfo).port : 0;
  }

  override tryShutdown(callback: (error?: Error) => void): void {
    const closed = this.#close();
    this.streams.drain();
    this.connections.cutStrangers();
    super.tryShutdown((error) => void closed.then(() => callback(error)));
  }

  override forceShutdown(): void {
    void this.#close();
    this.connections.cutAll();
    super.forceShutdown();
  }

  /** grpc-js reports neither refused certificates nor key changes, and does not expose its TLS server. */
  #watchTls(): void {
    const { http2Servers } = this as unknown as { http2Servers: Map<EventEmitter, unknown> };
    const [server] = [...http2Servers.keys()].slice(-1);
    server?.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
      const reason = String(socket.authorizationError ?? error.code ?? error.message);
      this.onTlsFault('a connection was refused during the TLS handshake', socket.remoteAddress, reason);
    });
    // Node emits this for each new secret; the listener does not read the secret itself.
    server?.on('keylog', (_, { remoteAddress, remotePort }: TLSSocket) => {
      if (this.connections.newSecret(`${remoteAddress}:${remotePort}`) === 'cut') {
        this.onTlsFault('a connection was cut', remoteAddress, 'its peer changed the keys of TLS too often');
      }
    });
  }

  async #close(): Promise<void> {
    const closing = [...this.#listeners].map(
      (listener) => new Promise<void>((resolve) => listener.close(() => resolve())),
    );
    await Promise.all(closing);
  }
}

export function createRpcServer(options: RpcServerOptions): RpcServer {
  const report = reporter(options);
  const warnOfRefusals = boundedWarnings(options.log, REFUSAL_LINES_PER_MINUTE);
  const connections = new Connections(options.connections);
  const gate = new Gate({
    ...options,
    connections,
    onRefusal: (method, call, error) => {
      report(method, call, statusNameOf(error), error);
      const { requestId, peer, identity } = call;
      const who = { caller: identity?.caller, tokenId: tokenIdOf(identity, error) };
      warnOfRefusals('call refused', { requestId, method, peer, ...who, reason: publicCode(error.code) });
      const refusal = refusalOf(method, call, error);
      if (refusal) {
        options.audit.observe(refusal);
      }
    },
  });
  const endpointOf = (method: AnyMethod, handler: Handler<AnyMethod>) =>
    new Endpoint(method, handler, options.audit, report);
  const streams = new ServedStreams(gate, endpointOf(exchange, notImplemented));
  const turns = new ReadTurns(options);
  const warnOfTls = boundedWarnings(options.log, TLS_LINES_PER_MINUTE);
  const server = new RpcServer(gate, connections, streams, endpointOf, (what, peer, reason) =>
    warnOfTls(what, { peer, reason }),
  );
  for (const { definition, handlers } of options.services) {
    for (const [name, method] of Object.entries(definition)) {
      const handler = turns.handlerOf(method, handlers[name] ?? notImplemented);
      const isWithinInstance = methodsWithinInstance.has(method.path);
      const endpoint = server.serve(method, handler, { callers: callersOf(method.path), isWithinInstance });
      if (travelsInStreams(method)) {
        streams.add(endpoint);
      }
    }
  }
  if (streams.hasMethods) {
    gate.rule(exchange.path, { callers: callersOf(exchange.path) });
    server.addService({ exchange: takingBytes(exchange) }, { exchange: streams.handle });
  }
  return server;
}

/**
 * Messages are read and written here: where that fails, grpc-js would send its own text to the peer, and the
 * call would be in no log.
 */
function takingBytes(method: AnyMethod): AnyMethod {
  const asTheyAre = (bytes: Buffer) => bytes;
  return { ...method, requestDeserialize: asTheyAre, responseSerialize: asTheyAre };
}

/** Lets calls end, then closes; cuts what is still open after the grace. */
export async function closeRpcServer(server: RpcServer, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  const timer = setTimeout(() => server.forceShutdown(), graceMs);
  await closed;
  clearTimeout(timer);
}

function adapt(endpoint: Endpoint, gate: Gate): UntypedHandleCall {
  const { method, handler } = endpoint;
  return async (call: AnyCall, callback?: sendUnaryData<unknown>) => {
    const admitted = gate.callOf(call.metadata);
    let failure: ServiceError | undefined;
    try {
      const context = contextOf(call, admitted);
      const request = requestOf(call, method);
      if (method.responseStream) {
        await endpoint.traced(context, async () => {
          const answer = handler(request, context);
          await endpoint.recordRead(request, context);
          await pump(
            answer as unknown as AsyncIterable<unknown>,
            call as ServerWritableStream<unknown, unknown>,
            method.responseSerialize,
            () => admitted.end(notRead()),
          );
        });
      } else {
        const answer = await endpoint.answer(request, context);
        gate.countAnswer(call.metadata, answer);
        callback?.(null, answer);
      }
    } catch (thrown) {
      failure = failureOf(thrown);
      const refusal = toStatus(failure);
      if (callback) {
        callback(refusal);
      } else {
        call.emit('error', refusal);
      }
    }
    limitWait(call, admitted);
    endpoint.ended(admitted, call.cancelled, failure);
  };
}

/** Limits the wait for the peer: grpc-js would keep the answer, or the end of a list, without limit. */
function limitWait(call: AnyCall, admitted: AdmittedStream): void {
  if (!call.cancelled) {
    const patience = setTimeout(() => admitted.end(notRead()), READER_PATIENCE_MS).unref();
    // grpc-js emits `cancelled` however the call ends.
    call.once('cancelled', () => clearTimeout(patience));
  }
}

/** The message, or all messages of a stream. */
function requestOf(call: AnyCall, method: AnyMethod): unknown {
  if (method.requestStream) {
    return requestsOf(call as AnyCall & Readable, method);
  }
  const request = messageIn(method, (call as unknown as { request: Buffer }).request);
  refuseNul(request);
  return request;
}

async function* requestsOf(call: AnyCall & Readable, method: AnyMethod): AsyncGenerator<unknown> {
  try {
    // Does not destroy the call when a handler stops early: it may still answer.
    for await (const bytes of call.iterator({ destroyOnReturn: false })) {
      yield messageIn(method, bytes);
    }
  } catch (error) {
    // The stream says only that it was closed too early.
    throw call.cancelled ? new CallerLeft() : error;
  }
}

function contextOf(call: AnyCall, { requestId, identity, peer }: AdmittedCall): CallContext {
  let controller: AbortController | undefined;
  return {
    requestId,
    identity: identity as Identity,
    onBehalfOf: recordableOnBehalfOf(call.metadata.get(ON_BEHALF_OF_KEY)),
    traceparent: traceparentOf(call.metadata),
    get remoteAddress() {
      return remoteAddressOf(peer);
    },
    get isCancelled() {
      return call.cancelled;
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
