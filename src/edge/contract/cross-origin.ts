import type { Operation } from 'openapi-backend';
import type { HttpAnswer } from '../http/exchange.js';

/** Headers that scripts may read besides the safelisted ones. */
const EXPOSED = 'Retry-After, WWW-Authenticate, x-request-id, ETag';
const ACCEPTED = 'Authorization, Content-Type, If-None-Match, x-request-id';
const PREFLIGHT_SECONDS = 7_200;

/** A cache: every request asks, and operations never change. */
const known = new WeakMap<Operation, boolean>();

/** Whether scripts of any origin may call an operation: its success says so in the document. */
export function isOpenToScripts(operation: Operation): boolean {
  let isOpen = known.get(operation);
  if (isOpen === undefined) {
    isOpen = Object.entries(operation.responses ?? {}).some(
      ([status, response]) =>
        status.startsWith('2') &&
        'headers' in response &&
        'Access-Control-Allow-Origin' in (response.headers ?? {}),
    );
    known.set(operation, isOpen);
  }
  return isOpen;
}

/** Without credentials, so that cookies are never sent: the request itself authenticates the caller. */
export function openHeaders(): Record<string, string> {
  return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED };
}

/** The answer to OPTIONS for scripts: methods and headers they may send. */
export function preflightAnswer(methods: string): HttpAnswer {
  return {
    status: 204,
    headers: {
      ...openHeaders(),
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': ACCEPTED,
      'Access-Control-Max-Age': PREFLIGHT_SECONDS,
      'Cache-Control': 'no-store',
      allow: methods,
    },
  };
}
