import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { snakeCase } from '../domain/platform/changes.js';
import { ErrorCode, ServiceError } from '../errors/service-error.js';
import type { Identity } from './callers.js';

/** A method as ts-proto generates it, with its encoders. */
// biome-ignore lint/suspicious/noExplicitAny: the message types are inferred from each definition.
export type AnyMethod = MethodDefinition<any, any>;
export type AnyService = ServiceDefinition & Record<string, AnyMethod>;

export type RequestOf<M> = M extends { requestSerialize: (message: infer T) => Buffer } ? T : never;
export type ResponseOf<M> = M extends { responseSerialize: (message: infer T) => Buffer } ? T : never;

/** What may be sent: null for absent fields, milliseconds for times; so domain values fit as messages. */
export type Sent<T> = T extends Date
  ? Date | number
  : T extends string | Uint8Array
    ? T
    : T extends (infer Item)[]
      ? readonly Sent<Item>[]
      : T extends object
        ? { readonly [Name in keyof T]: Sent<T[Name]> | (undefined extends T[Name] ? null : never) }
        : T;

/** `integration.directory.v1.DirectoryService`, from the path of any of its methods. */
export function serviceNameOf(service: AnyService): string {
  const path = Object.values(service)[0]?.path ?? '';
  return path.split('/')[1] ?? '';
}

/** What a handler knows of the call besides its message. */
export interface CallContext {
  readonly requestId: string;
  readonly identity: Identity;
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

export interface ServedService {
  readonly definition: AnyService;
  // biome-ignore lint/suspicious/noExplicitAny: each handler was checked against its method by `serve`.
  readonly handlers: Readonly<Record<string, Handler<any> | undefined>>;
}

export function serve<S extends AnyService>(definition: S, handlers: Handlers<S>): ServedService {
  return { definition, handlers };
}

/** The message of a call. Refuses bytes that are none. */
export function messageIn(method: AnyMethod, bytes: Buffer): unknown {
  try {
    return method.requestDeserialize(bytes);
  } catch (error) {
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The message of the call cannot be read.', {
      internal: (error as Error).message,
    });
  }
}

/** Refuses NUL in a text: PostgreSQL stores none, so a SQLite database with one cannot be moved there. */
export function refuseNul(request: unknown): void {
  if (hasNul(request)) {
    const fieldViolations = pathsOfNul(request).map((path) => ({ path, message: 'must not contain NUL' }));
    const message = 'The request is invalid; the fields say why.';
    throw new ServiceError(ErrorCode.INVALID_REQUEST, message, { fieldViolations });
  }
}

/** Every request is searched. Without recursion: a tree of units may be deep. */
function hasNul(request: unknown): boolean {
  const parts = [request];
  for (let value = parts.pop(); value !== undefined; value = parts.pop()) {
    if (typeof value === 'string' && value.includes('\0')) {
      return true;
    }
    if (isMessage(value)) {
      for (const name in value) {
        parts.push(value[name] ?? null);
      }
    }
  }
  return false;
}

/** Lists and messages, but not bytes. */
function isMessage(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);
}

/** A request may have a million parts: only the first are looked at. */
const MOST_PARTS = 10_000;

function pathsOfNul(request: unknown): string[] {
  const found: string[] = [];
  const parts: [path: string, value: unknown][] = [['', request]];
  for (const [path, value] of parts) {
    if (typeof value === 'string' && value.includes('\0')) {
      found.push(path);
    } else if (isMessage(value) && parts.length < MOST_PARTS) {
      const inside = Array.isArray(value)
        ? value.slice(0, MOST_PARTS).map((item, index): [string, unknown] => [`${path}[${index}]`, item])
        : fieldsOf(path === '' ? '' : `${path}.`, value);
      parts.push(...inside);
    }
  }
  return found;
}

/** Under the names of the contract, where a oneof has only its cases. */
function fieldsOf(prefix: string, message: object): [path: string, value: unknown][] {
  return Object.entries(message).map(([name, value]) =>
    typeof value?.$case === 'string'
      ? [prefix + snakeCase(value.$case), value.value]
      : [prefix + snakeCase(name), value],
  );
}
