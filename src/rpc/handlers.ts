import type { InstanceId } from '../../generated/ids.js';
import type { Caller } from './callers.js';
import type { AnyService, RequestOf, ResponseOf, Sent } from './definitions.js';

/** What a handler knows of the call besides its message. */
export interface CallContext {
  readonly requestId: string;
  readonly caller: Caller;
  /** Id of the token, if it is in the database. */
  readonly tokenId: string | undefined;
  /** The first token of its line of successors, if that is another one. */
  readonly ownerId?: string;
  /** The only instance that the token reaches; undefined for all. */
  readonly instanceId: InstanceId | undefined;
  /** The address of the peer, or undefined on a local socket. */
  readonly remoteAddress: string | undefined;
  /** The person or system for which the caller acts, by its own account. */
  readonly onBehalfOf?: string;
  /** The span of the caller as a W3C `traceparent`. */
  readonly traceparent?: string;
  /** Set by a method that serves several operations: log and metrics then name the operation too. */
  operation?: string;
  /** Aborted when the caller disconnects or the deadline passes. Made at the first use. */
  readonly signal: AbortSignal;
  /** Whether it is aborted, for those who do not wait for it. */
  readonly isCancelled: boolean;
}

type Incoming<M> = M extends { requestStream: true } ? AsyncIterable<RequestOf<M>> : RequestOf<M>;
type Outgoing<M> = M extends { responseStream: true }
  ? AsyncIterable<Sent<ResponseOf<M>>>
  : Promise<Sent<ResponseOf<M>>>;

/** `Call`: what a handler is given of its call besides the message. */
export type Handler<M, Call extends unknown[] = [context: CallContext]> = (
  request: Incoming<M>,
  ...call: Call
) => Outgoing<M>;

/** A handler per method; a method without one answers NOT_IMPLEMENTED. */
export type Handlers<S extends AnyService, Call extends unknown[] = [context: CallContext]> = {
  readonly [Name in keyof S]?: Handler<S[Name], Call>;
};

/** A service with its handlers. */
export interface ServedService {
  readonly definition: AnyService;
  // biome-ignore lint/suspicious/noExplicitAny: each handler was checked against its method by `serve`.
  readonly handlers: Readonly<Record<string, Handler<any> | undefined>>;
}

export function serve<S extends AnyService>(definition: S, handlers: Handlers<S>): ServedService {
  return { definition, handlers };
}
