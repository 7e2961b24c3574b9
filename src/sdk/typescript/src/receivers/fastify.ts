import {
  answerTo,
  type ByteStream,
  checkReceiver,
  type EventHandler,
  LimitedBody,
  type ReceiverOptions,
  readStream,
  TEXT_TYPE,
  TOO_LARGE,
} from './receiver.js';

export type { EventHandler, ReceiverOptions } from './receiver.js';

/** What is needed of a request of Fastify. */
export interface FastifyRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: unknown;
}

export interface FastifyReply {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  send(text?: string): unknown;
}

/** What is needed of an instance of Fastify. */
export interface FastifyScope {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    options: object,
    parse: (...values: never[]) => Promise<unknown>,
  ): unknown;
  post(path: string, handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}

const ADVICE = 'With Fastify, no hook may read the body of this route.';
const NOTHING = new Uint8Array();

/**
 * A plugin for Fastify: `app.register(receiveWebhooks(secret, store), { prefix: '/events' })`. It keeps the
 * bytes of its own route; the others have the parsers of the application. Throws a `TypeError` for secrets
 * and options with which no request could be verified.
 */
export function receiveWebhooks(
  secrets: string | readonly string[],
  handle: EventHandler,
  options: ReceiverOptions = {},
): (app: FastifyScope) => Promise<void> {
  checkReceiver(secrets, options);
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', {}, async (_: never, payload: ByteStream) => {
      return (await readStream(payload, new LimitedBody(options.maxBytes), ADVICE)) ?? TOO_LARGE;
    });
    app.post('/', async ({ body, headers }, reply) => {
      const bytes = body instanceof Uint8Array ? body : NOTHING;
      const isTooLarge = body === TOO_LARGE;
      const answer = isTooLarge ? TOO_LARGE : await answerTo(bytes, headers, secrets, handle, options);
      reply.code(answer.status);
      if (isTooLarge) {
        reply.header('connection', 'close');
      }
      if (answer.text === '') {
        return reply.send();
      }
      reply.header('content-type', TEXT_TYPE);
      return reply.send(answer.text);
    });
  };
}
