import type { InstanceId } from '../../generated/ids.js';
import type { Caller } from './callers.js';
import type { AnyService, RequestOf, ResponseOf } from './definitions.js';

/** What a handler knows of the call besides its message. */
export interface CallContext {
  readonly requestId: string;
  readonly caller: Caller;
  /** Id of the token that was shown, where the database knows it. */
  readonly tokenId: string | undefined;
  /** The first token of its line of succession, where that is another. */
  readonly ownerId?: string;
  /** The one instance that the token reaches; undefined for all. */
  readonly instanceId: InstanceId | undefined;
  /** The peer as the system names it, or undefined on a socket of this machine. */
  readonly remoteAddress: string | undefined;
  /** For whom the caller says that it acts. */
  readonly onBehalfOf?: string;
  /** Aborted when the caller went away or the deadline passed. */
  readonly signal: AbortSignal;
}

type Incoming<M> = M extends { requestStream: true } ? AsyncIterable<RequestOf<M>> : RequestOf<M>;
type Outgoing<M> = M extends { responseStream: true } ? AsyncIterable<ResponseOf<M>> : Promise<ResponseOf<M>>;

export type Handler<M> = (request: Incoming<M>, context: CallContext) => Outgoing<M>;

/** A handler per method; a method without one answers NOT_IMPLEMENTED. */
export type Handlers<S extends AnyService> = { readonly [Name in keyof S]?: Handler<S[Name]> };

/** A service with its handlers, ready to be served. */
export interface ServedService {
  readonly definition: AnyService;
  // biome-ignore lint/suspicious/noExplicitAny: each handler was checked against its method by `serve`.
  readonly handlers: Readonly<Record<string, Handler<any> | undefined>>;
}

export function serve<S extends AnyService>(definition: S, handlers: Handlers<S>): ServedService {
  return { definition, handlers };
}
