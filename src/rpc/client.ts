import { randomUUID } from 'node:crypto';
import {
  type ChannelCredentials,
  Client,
  credentials,
  type CallOptions as GrpcCallOptions,
  Metadata,
} from '@grpc/grpc-js';
import { service as healthDefinition } from 'grpc-health-check';
import { AUTHORIZATION_KEY, ON_BEHALF_OF_KEY, REQUEST_ID_KEY } from './call-metadata.js';
import { Conversation } from './conversation.js';
import type { AnyMethod, AnyService, RequestOf, ResponseOf } from './definitions.js';
import { fromStatus } from './error-trailer.js';
import { MessageReader } from './message-reader.js';
import { RenewedConnection } from './renewed-connection.js';

const DEFAULT_DEADLINE_MS = 5_000;

const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': 16 * 1_024 * 1_024,
  // Statistics of every call and message that nobody asks for.
  'grpc.enable_channelz': 0,
  // Only the caller knows what may be asked again; for each call that could be, a copy would be kept.
  'grpc.enable_retries': 0,
  // A peer that restarts is found again within a moment, not after grpc's twenty seconds.
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.min_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 5_000,
  // Without this, grpc-js lets clients of one address share a connection.
  'grpc.use_local_subchannel_pool': 1,
};

/** So many connections for calls that bring many messages. */
const STREAM_CONNECTIONS = 2;

export interface CallOptions {
  /** Travels with the call into the log of the other side. */
  requestId: string;
  /** For whom it is made, for the audit log: an id that means something to the caller. */
  onBehalfOf?: string;
  /** For the whole call, however many messages it brings. */
  deadlineMs?: number;
  /** Of a stream: how long each message may be waited for, which leaves out the time that its reader takes. */
  messageWaitMs?: number;
  /** Of a call with one answer: aborted, it is cancelled and fails with the reason. */
  signal?: AbortSignal;
}

type UnaryCall<M> = (request: RequestOf<M>, options: CallOptions) => Promise<ResponseOf<M>>;
type StreamCall<M> = (request: RequestOf<M>, options: CallOptions) => AsyncIterable<ResponseOf<M>>;

/** The methods that take one message, as promises and async iterables. */
export type RpcClient<S extends AnyService> = {
  readonly [Name in keyof S as S[Name] extends { requestStream: true } ? never : Name]: S[Name] extends {
    responseStream: true;
  }
    ? StreamCall<S[Name]>
    : UnaryCall<S[Name]>;
};

/**
 * Connections to a server of ours; opened on first use, reopened whenever they break. A connection carries a limited number of calls, and a call that brings many
 * messages lasts as long as its reader takes: such calls have connections of their own, so that slow readers use up nothing that short calls need.
 */
export class RpcChannel {
  readonly #connection: RenewedConnection;
  readonly #forStreams: RenewedConnection[];
  readonly #token: string;
  #nextStream = 0;

  constructor(
    address: string,
    token: string,
    channelCredentials: ChannelCredentials = credentials.createInsecure(),
  ) {
    const connect = () =>
      new RenewedConnection(() => new Client(address, channelCredentials, CHANNEL_OPTIONS));
    this.#connection = connect();
    this.#forStreams = Array.from({ length: STREAM_CONNECTIONS }, connect);
    this.#token = token;
  }

  clientOf<S extends AnyService>(definition: S): RpcClient<S> {
    const calls = Object.entries(definition)
      .filter(([, method]) => !method.requestStream)
      .map(([name, method]) => [name, method.responseStream ? this.#stream(method) : this.#unary(method)]);
    return Object.fromEntries(calls) as RpcClient<S>;
  }

  /** For a method that answers each of the messages it is sent by one of its own. */
  conversation<M extends AnyMethod>(method: M): Conversation<RequestOf<M>, ResponseOf<M>> {
    return new Conversation(() =>
      this.#connection.begin((client) =>
        client.makeBidiStreamRequest(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          this.#metadata({ requestId: randomUUID() }),
        ),
      ),
    );
  }

  /** What the other side says of itself by the standard health protocol. */
  health(deadlineMs: number): Promise<string> {
    const check = healthDefinition.Check as unknown as AnyMethod;
    const options = { requestId: randomUUID(), deadlineMs };
    return new Promise((resolve, reject) => {
      this.#connection.begin((client) =>
        client.makeUnaryRequest(
          check.path,
          check.requestSerialize,
          check.responseDeserialize,
          { service: '' },
          this.#metadata(options),
          deadlineOf(options),
          (failure, response) => (failure ? reject(new Error(failure.details)) : resolve(response.status)),
        ),
      );
    });
  }

  close(): void {
    for (const connection of [this.#connection, ...this.#forStreams]) {
      connection.close();
    }
  }

  #unary(method: AnyMethod): UnaryCall<AnyMethod> {
    return (request, options) =>
      new Promise((resolve, reject) => {
        const { signal } = options;
        signal?.throwIfAborted();
        const cancel = () => call.cancel();
        const call = this.#connection.begin((client) =>
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
          this.#forNextStream().begin((client) =>
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
      });
  }

  #forNextStream(): RenewedConnection {
    this.#nextStream = (this.#nextStream + 1) % STREAM_CONNECTIONS;
    return this.#forStreams[this.#nextStream] as RenewedConnection;
  }

  #metadata({ requestId, onBehalfOf }: CallOptions): Metadata {
    const metadata = new Metadata();
    metadata.set(AUTHORIZATION_KEY, `Bearer ${this.#token}`);
    metadata.set(REQUEST_ID_KEY, requestId);
    if (onBehalfOf !== undefined) {
      metadata.set(ON_BEHALF_OF_KEY, onBehalfOf);
    }
    return metadata;
  }
}

function deadlineOf({ deadlineMs = DEFAULT_DEADLINE_MS }: CallOptions): GrpcCallOptions {
  return { deadline: Date.now() + deadlineMs };
}
