import { createHash } from 'node:crypto';
import type { ReceivedRequest } from '../../contract/typed-handler.js';
import { isHeld } from '../../http/representations.js';

/** An answer that may be cached, with an entity tag. */
export function published<T>(request: ReceivedRequest, body: T, maxAgeSeconds: number) {
  const tag = `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22)}"`;
  const headers = { 'Cache-Control': `public, max-age=${maxAgeSeconds}`, ETag: tag };
  return isHeld(request.headers['if-none-match'], [tag])
    ? ({ status: 304, headers } as const)
    : ({ status: 200, headers, body } as const);
}
