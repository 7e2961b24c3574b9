import {
  type Answer,
  alreadyRead,
  answerTo,
  checkReceiver,
  type EventHandler,
  LimitedBody,
  type ReceiverOptions,
  TEXT_TYPE,
  TOO_LARGE,
} from './receiver.js';

export type { EventHandler, ReceiverOptions } from './receiver.js';

/**
 * A route handler of Next.js, `export const POST = receiveWebhooks(secret, store)` in `route.ts`, and of
 * all servers that answer a `Request` with a `Response`. Secrets are checked with each request: a build loads
 * `route.ts` without them.
 */
export function receiveWebhooks(
  secrets: string | readonly string[],
  handle: EventHandler,
  options: ReceiverOptions = {},
): (request: Request) => Promise<Response> {
  return async (request) => {
    checkReceiver(secrets, options);
    const body = await bodyOf(request, options.maxBytes);
    return responseOf(body ? await answerTo(body, request.headers, secrets, handle, options) : TOO_LARGE);
  };
}

async function bodyOf(request: Request, maxBytes: number | undefined): Promise<Uint8Array | undefined> {
  if (request.bodyUsed) {
    throw alreadyRead(
      'Do not call request.json() or request.text() before, or call them on request.clone().',
    );
  }
  const body = new LimitedBody(maxBytes);
  const reader = request.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || !value) {
      return body.bytes();
    }
    if (!body.add(value)) {
      await reader?.cancel();
      return undefined;
    }
  }
}

function responseOf({ status, text }: Answer): Response {
  return text === ''
    ? new Response(null, { status })
    : new Response(text, { status, headers: { 'content-type': TEXT_TYPE } });
}
