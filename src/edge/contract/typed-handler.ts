import type { BodyStream } from '../http/exchange.js';
import type { Html } from '../pages/html.js';
import type { RoutedRequest } from './document-router.js';

/** A body of the contract that the domain has made, whole or in pieces. It is sent unchanged. */
export class MadeJson {
  constructor(readonly content: Buffer | BodyStream) {}
}

/** An operation as openapi-typescript generates it. */
interface AnyOperation {
  parameters: { path?: unknown; query?: unknown };
  requestBody?: unknown;
  responses: Record<number, unknown>;
}

type Given<T> = [Exclude<T, undefined>] extends [never] ? Record<string, never> : Exclude<T, undefined>;

type HandlersHeader<Name> = string extends Name ? never : Name extends AddedHeader ? never : Name;

type HeadersOf<R> = R extends { headers: infer H }
  ? { [Name in keyof H as Exclude<HandlersHeader<Name>, OptionalHeader>]: H[Name] } & {
      [Name in keyof H as Extract<HandlersHeader<Name>, OptionalHeader>]?: Name extends 'Set-Cookie'
        ? H[Name] | string[]
        : H[Name];
    }
  : Record<string, never>;

/** openapi-typescript makes referenced headers required, even optional ones. */
type OptionalHeader = 'Link' | 'Set-Cookie';

/** Headers that are added to every answer. */
type AddedHeader = 'x-request-id' | 'Cache-Control' | 'Vary' | 'Access-Control-Allow-Origin';

type BodyOf<R> = R extends { content: { 'application/json': infer B } }
  ? { body: B | MadeJson }
  : R extends { content: { 'text/html': unknown } }
    ? { body: Html }
    : { body?: undefined };

type ReplyWith<R, Status> = { status: Status; headers: HeadersOf<R> } & BodyOf<R>;

/** The successes, and the error page. Handlers throw other refusals. */
type HandlersStatus<Responses> =
  | (keyof Responses & (200 | 204 | 302 | 303 | 304))
  | (Responses extends { 400: { content: { 'text/html': unknown } } } ? 400 : never);

/** Any documented answer of the operation. */
type Reply<O extends AnyOperation> = {
  [Status in HandlersStatus<O['responses']>]: ReplyWith<O['responses'][Status], Status>;
}[HandlersStatus<O['responses']>];

type FormOf<O extends AnyOperation> = O extends {
  requestBody: { content: { 'application/x-www-form-urlencoded': infer Form } };
}
  ? Form
  : undefined;

/** What handlers know about every request. */
export type AnyRequest = Pick<
  RoutedRequest,
  'requestId' | 'clientAddress' | 'headers' | 'left' | 'facts' | 'wait' | 'holds'
>;

/** A request that is valid by the document. */
interface ValidRequest<O extends AnyOperation, Identity> extends AnyRequest {
  params: Given<O['parameters']['path']>;
  query: Given<O['parameters']['query']>;
  /** Absent where the operation has none. */
  requestBody: Given<FormOf<O>>;
  identity: Identity;
}

/** A request that is not validated: the rules of the handler decide which error comes first. */
export type ReceivedRequest = AnyRequest & Pick<RoutedRequest, 'rawQuery' | 'body'>;

export type Handler<O extends AnyOperation, Dependencies, Identity> = (
  request: ValidRequest<O, Identity>,
  dependencies: Dependencies,
) => Promise<Reply<O>>;

export type ReceivingHandler<O extends AnyOperation, Dependencies> = (
  request: ReceivedRequest,
  dependencies: Dependencies,
) => Promise<Reply<O>>;

/** A handler for each implemented operation; the others answer 501. */
export type Handlers<Operations, Dependencies, Identity, AsReceived extends keyof Operations = never> = {
  readonly [Id in keyof Operations]?: Operations[Id] extends AnyOperation
    ? Id extends AsReceived
      ? ReceivingHandler<Operations[Id], Dependencies>
      : Handler<Operations[Id], Dependencies, Identity>
    : never;
};
