import {
  answerTo,
  type ByteStream,
  ConnectionLost,
  checkReceiver,
  type EventHandler,
  LimitedBody,
  type ReceiverOptions,
  readStream,
  TEXT_TYPE,
  TOO_LARGE,
} from './receiver.js';

export type { EventHandler, ReceiverOptions } from './receiver.js';

/** What is needed of a request of Express, of Node.js, or of an API route of Next.js. */
export interface NodeRequest extends ByteStream {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The error with which the connection was lost, if there is one: streams of HTTP/2 have none. */
  readonly errored?: unknown;
  readonly body?: unknown;
  /** The bytes, where the platform has read them, as NestJS and cloud functions do. */
  readonly rawBody?: unknown;
}

export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(text?: string): unknown;
}

/**
 * Gets the errors. Without it, they reject the promise, except after a lost connection. Catch them where the
 * platform does not: `createServer` of Node.js, for example, ignores the promise.
 */
export type NextFunction = (error?: unknown) => void;

const ADVICE =
  'With Express, put its route before app.use(express.json()) and other parsers. ' +
  'In an API route of Next.js, export const config = { api: { bodyParser: false } }.';

/**
 * A handler for a route of Express, version 4 or 5: `app.post('/events', receiveWebhooks(secret, store))`.
 * It reads the body itself, so its route has to be before `express.json()`. Throws a `TypeError` for secrets
 * and options with which no request could be verified.
 */
export function receiveWebhooks(
  secrets: string | readonly string[],
  handle: EventHandler,
  options: ReceiverOptions = {},
): (request: NodeRequest, response: NodeResponse, next?: NextFunction) => Promise<void> {
  checkReceiver(secrets, options);
  return async (request, response, next) => {
    try {
      const body = await bodyOf(request, options.maxBytes);
      const answer = body ? await answerTo(body, request.headers, secrets, handle, options) : TOO_LARGE;
      response.statusCode = answer.status;
      if (answer === TOO_LARGE) {
        response.setHeader('connection', 'close');
      }
      if (answer.text !== '') {
        response.setHeader('content-type', TEXT_TYPE);
      }
      response.end(answer.text);
    } catch (error) {
      // The caller has left, and awaits no answer: a lost connection must not end the process.
      const isLost = error instanceof ConnectionLost || error === request.errored;
      if (!next && !isLost) {
        throw error;
      }
      next?.(error);
    }
  };
}

async function bodyOf(request: NodeRequest, maxBytes: number | undefined): Promise<Uint8Array | undefined> {
  const body = new LimitedBody(maxBytes);
  for (const given of [request.rawBody, request.body]) {
    if (given instanceof Uint8Array) {
      return body.takes(given.length) ? given : undefined;
    }
  }
  return readStream(request, body, ADVICE);
}
