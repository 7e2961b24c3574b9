import { randomUUID } from 'node:crypto';
import {
  type ChannelCredentials,
  Client,
  credentials,
  type CallOptions as GrpcCallOptions,
  Metadata,
} from '@grpc/grpc-js';
import { CallServiceService } from '../../generated/proto/integration/calls/v1/calls.js';
import { currentTraceparent, inSpanOfTrace } from '../telemetry/tracing.js';
import {
  AUTHORIZATION_KEY,
  type CallOptions,
  ON_BEHALF_OF_KEY,
  REQUEST_ID_KEY,
  TRACEPARENT_KEY,
} from './call-metadata.js';
import { CLIENT_OPTIONS, closingAttempts, type RenewedConnection } from './connect.js';
import { fromStatus } from './error-trailer.js';
import type { AnyMethod, AnyService, RequestOf, ResponseOf } from './handlers.js';
import { Member, type MemberReport } from './members/member.js';
import { Members } from './members/members.js';
import { MessageReader } from './message-streams.js';
import { travelsInStreams } from './short-calls/frames.js';
import { StreamedCalls } from './short-calls/streamed-calls.js';

const DEFAULT_DEADLINE_MS = 5_000;

/**
 * Lets a server send 1 MiB ahead. Otherwise a large answer takes a round trip for each 64 KiB, and short ones
 * wait behind it. Not for lists: each could hold that much memory here while its reader is slow.
 */
const SHORT_CALL_OPTIONS = { 'grpc-node.flow_control_window': 1_024 * 1_024 };

const CHANNEL_OPTIONS = {
  ...CLIENT_OPTIONS,
  // Unused statistics of every call and message.
  'grpc.enable_channelz': 0,
  // Callers decide about retries; this would buffer a copy of each call.
  'grpc.enable_retries': 0,
  // Otherwise grpc-js reports up to a megabyte as written before it is sent.
  'grpc.per_rpc_retry_buffer_size': 0,
  // A restarted peer is reconnected quickly, not after the default of twenty seconds.
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.min_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // Otherwise clients of one address share a connection.
  'grpc.use_local_subchannel_pool': 1,
};

type UnaryCall<M> = (request: RequestOf<M>, options: CallOptions) => Promise<ResponseOf<M>>;
type StreamCall<M> = (request: RequestOf<M>, options: CallOptions) => AsyncIterable<ResponseOf<M>>;

/** Methods with one request message, as promises and async iterables. */
export type RpcClient<S extends AnyService> = {
  readonly [Name in keyof S as S[Name] extends { requestStream: true } ? never : Name]: S[Name] extends {
    responseStream: true;
  }
    ? StreamCall<S[Name]>
    : UnaryCall<S[Name]>;
};

interface ChannelOptions {
  /** For each `host:port`, if not the same for all. */
  credentials?: ChannelCredentials | ((address: string) => ChannelCredentials);
  /** Called when the health of one of several servers has changed. */
  onChange?: (report: MemberReport) => void;
  /** How long a connection may take to begin. */
  connectMs?: number;
  /** How many turns of the health checks a server may be silent. */
  silentAfterTurns?: number;
}

/**
 * Connections to a server of ours, or to several that do the same work. They are opened on first use and
 * reopened when they break. Streams have separate connections, so that slow readers leave the limited calls
 * of a connection to unary calls.
 */
export class RpcChannel {
  readonly #members: Members;
  readonly #streamedCalls: StreamedCalls;
  readonly #token: string | (() => string);
  /** Of the present streams of calls. */
  #streamToken: string | undefined;

  constructor(
    /** Several with commas between them; `dns:///host:port` stands for all addresses of a name. */
    addresses: string,
    /** A function if the token may change while the channel is open. */
    token: string | (() => string),
    { credentials: given = credentials.createInsecure(), onChange, ...limits }: ChannelOptions = {},
  ) {
    this.#token = token;
    this.#streamedCalls = new StreamedCalls(() => this.#members.best(callsOf).shortCalls);
    this.#members = new Members(addresses, ({ address, name }) => {
      const own = closingAttempts(typeof given === 'function' ? given(name ?? address) : given);
      return new Member({
        address,
        connect: (purpose) => {
          const more = purpose === 'short calls' ? SHORT_CALL_OPTIONS : {};
          return new Client(address, own, { ...CHANNEL_OPTIONS, ...more, ...namedAs(name) });
        },
        exchange: (connection) => this.#exchange(connection),
        metadata: () => this.#metadata({ requestId: randomUUID() }),
        calls: this.#streamedCalls,
        onChange: ({ report }) => onChange?.(report),
        ...limits,
      });
    });
  }

  clientOf<S extends AnyService>(definition: S): RpcClient<S> {
    const calls = Object.entries(definition)
      .filter(([, method]) => !method.requestStream)
      .map(([name, method]) => [name, this.#callOf(method)]);
    return Object.fromEntries(calls) as RpcClient<S>;
  }

  #callOf(method: AnyMethod) {
    if (method.responseStream) {
      return this.#stream(method);
    }
    return traced(method, travelsInStreams(method) ? this.#streamed(method) : this.#unary(method));
  }

  #streamed(method: AnyMethod): UnaryCall<AnyMethod> {
    return (request, options) => {
      if (this.#streamToken !== this.#tokenNow) {
        this.renew();
      }
      return this.#streamedCalls.call(method, request, options, options.deadlineMs ?? DEFAULT_DEADLINE_MS);
    };
  }

  /** Later calls use streams with the present token. Idle old streams end before their token is revoked. */
  renew(): void {
    this.#members.renew();
    this.#streamToken = this.#tokenNow;
  }

  get #tokenNow(): string {
    return typeof this.#token === 'string' ? this.#token : this.#token();
  }

  #exchange(connection: RenewedConnection) {
    const { path, requestSerialize, responseDeserialize } = CallServiceService.exchange;
    return connection.begin((client) =>
      client.makeBidiStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        this.#metadata({ requestId: randomUUID() }),
      ),
    );
  }

  /** Asks the other side by the standard health protocol; of several servers, one that serves. */
  async health(deadlineMs: number): Promise<string> {
    return this.#members.best(callsOf).health('', deadlineMs);
  }

  /** What is known of each server without asking. */
  reports(): readonly MemberReport[] {
    return this.#members.reports();
  }

  close(): void {
    this.#streamedCalls.close();
    this.#members.close();
  }

  #unary(method: AnyMethod): UnaryCall<AnyMethod> {
    return (request, options) =>
      new Promise((resolve, reject) => {
        const { signal } = options;
        signal?.throwIfAborted();
        const cancel = () => call.cancel();
        const call = this.#members.best(callsOf).connection.begin((client) =>
          client.makeUnaryRequest(
            method.path,
            method.requestSerialize,
            method.responseDeserialize,
            request,
            this.#metadata(options),
            deadlineOf(options),
            (failure, response) => {
              signal?.removeEventListener('abort', cancel);
              if (!failure) {
                resolve(response);
              } else {
                reject(signal?.aborted ? signal.reason : fromStatus(failure));
              }
            },
          ),
        );
        signal?.addEventListener('abort', cancel);
      });
  }

  #stream(method: AnyMethod): StreamCall<AnyMethod> {
    return (request, options) =>
      new MessageReader({
        open: () =>
          this.#members
            .best(streamsOf)
            .forNextStream()
            .begin((client) =>
              client.makeServerStreamRequest(
                method.path,
                method.requestSerialize,
                (bytes) => bytes,
                request,
                this.#metadata(options),
                deadlineOf(options),
              ),
            ),
        deserialize: method.responseDeserialize,
        waitMs: options.messageWaitMs,
        signal: options.signal,
      });
  }

  #metadata({ requestId, onBehalfOf }: CallOptions): Metadata {
    const metadata = new Metadata();
    metadata.set(AUTHORIZATION_KEY, `Bearer ${this.#tokenNow}`);
    metadata.set(REQUEST_ID_KEY, requestId);
    if (onBehalfOf !== undefined) {
      metadata.set(ON_BEHALF_OF_KEY, onBehalfOf);
    }
    const traceparent = currentTraceparent();
    if (traceparent !== undefined) {
      metadata.set(TRACEPARENT_KEY, traceparent);
    }
    return metadata;
  }
}

/** Makes a span for each unary call of a trace. Streams have only the span of their server. */
function traced(method: AnyMethod, call: UnaryCall<AnyMethod>): UnaryCall<AnyMethod> {
  const name = method.path.slice(1);
  return (request, options) =>
    inSpanOfTrace(name, { kind: 'client', attributes: { 'rpc.system': 'grpc' } }, () =>
      call(request, options),
    );
}

/** Short calls and streams are counted apart: a slow reader of a stream is no load for short calls. */
const callsOf = ({ shortCalls }: Member) => shortCalls.underWay;
const streamsOf = ({ openStreams }: Member) => openStreams;

/** Where DNS gave the address of a connection, its certificate is still for the name. */
function namedAs(name: string | undefined) {
  return name === undefined
    ? {}
    : { 'grpc.default_authority': name, 'grpc.ssl_target_name_override': name.replace(/:\d+$/, '') };
}

function deadlineOf({ deadlineMs = DEFAULT_DEADLINE_MS }: CallOptions): GrpcCallOptions {
  return { deadline: Date.now() + deadlineMs };
}
