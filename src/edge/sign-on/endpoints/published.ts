import { createHash } from 'node:crypto';
import type { ReceivedRequest } from '../../contract/typed-handler.js';

const TAG = /(?:W\/)?"([^"]*)"/g;

/** An answer that may be cached, with an entity tag. */
export function published<T>(request: ReceivedRequest, body: T, maxAgeSeconds: number) {
  const tag = createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22);
  const headers = { 'Cache-Control': `public, max-age=${maxAgeSeconds}`, ETag: `"${tag}"` };
  return isKnown(tag, request.header('if-none-match'))
    ? ({ status: 304, headers } as const)
    : ({ status: 200, headers, body } as const);
}

function isKnown(tag: string, ifNoneMatch = ''): boolean {
  return ifNoneMatch.trim() === '*' || [...ifNoneMatch.matchAll(TAG)].some(([, known]) => known === tag);
}
