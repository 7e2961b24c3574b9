import type { StreamedArray } from './streamed-array.js';

/** An operation as openapi-typescript writes it. */
interface AnyOperation {
  parameters: { path?: unknown; query?: unknown };
  responses: Record<number, unknown>;
}

type Given<T> = [Exclude<T, undefined>] extends [never] ? Record<string, never> : Exclude<T, undefined>;

type HandlersHeader<Name> = string extends Name ? never : Name extends AddedHeader ? never : Name;

type HeadersOf<R> = R extends { headers: infer H }
  ? { [Name in keyof H as Exclude<HandlersHeader<Name>, OptionalHeader>]: H[Name] } & {
      [Name in keyof H as Extract<HandlersHeader<Name>, OptionalHeader>]?: H[Name];
    }
  : Record<string, never>;

/** openapi-typescript takes a header that is referred to for a required one, whatever it says of itself. */
type OptionalHeader = 'Link';

/** What every answer carries without the handler's doing. */
type AddedHeader = 'x-request-id' | 'Cache-Control' | 'Vary';

type BodyOf<R> = R extends { content: { 'application/json': infer B } }
  ? { body: B | (B extends readonly (infer T)[] ? StreamedArray<T> : never) }
  : { body?: undefined };

type ReplyWith<R, Status> = { status: Status; headers: HeadersOf<R> } & BodyOf<R>;

/** Any answer that the document knows for the operation; refusals are thrown instead. */
export type Reply<O extends AnyOperation> = {
  [Status in keyof O['responses'] & (200 | 201 | 204 | 302 | 303 | 304)]: ReplyWith<
    O['responses'][Status],
    Status
  >;
}[keyof O['responses'] & (200 | 201 | 204 | 302 | 303 | 304)];

/** A request that satisfied the document. */
export interface ValidRequest<O extends AnyOperation, Identity> {
  requestId: string;
  params: Given<O['parameters']['path']>;
  query: Given<O['parameters']['query']>;
  header(name: string): string | undefined;
  /** What the security handlers found out about the caller. */
  identity: Identity;
  /** Adds to the log line of the request. */
  note(facts: Record<string, string>): void;
}

export type Handler<O extends AnyOperation, Dependencies, Identity> = (
  request: ValidRequest<O, Identity>,
  dependencies: Dependencies,
) => Promise<Reply<O>>;

/** A handler for each operation that is implemented; the others answer 501. */
export type Handlers<Operations, Dependencies, Identity> = {
  readonly [Id in keyof Operations]?: Operations[Id] extends AnyOperation
    ? Handler<Operations[Id], Dependencies, Identity>
    : never;
};
