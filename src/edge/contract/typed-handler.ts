/** An operation as openapi-typescript writes it. */
interface AnyOperation {
  parameters: { path?: unknown; query?: unknown };
  responses: Record<number, unknown>;
}

type Given<T> = [Exclude<T, undefined>] extends [never] ? Record<string, never> : Exclude<T, undefined>;

type HeadersOf<R> = R extends { headers: infer H }
  ? { [Name in keyof H as string extends Name ? never : Name extends AddedHeader ? never : Name]: H[Name] }
  : Record<string, never>;

/** What every answer carries without the handler's doing. */
type AddedHeader = 'x-request-id' | 'Cache-Control' | 'Vary';

type BodyOf<R> = R extends { content: { 'application/json': infer B } } ? { body: B } : { body?: undefined };

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
