import type { Document, Operation } from 'openapi-backend';
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
    isOpen = namesOpenHeader(operation);
    known.set(operation, isOpen);
  }
  return isOpen;
}

function namesOpenHeader({ responses }: Operation): boolean {
  return Object.entries(responses ?? {}).some(
    ([status, response]) =>
      status.startsWith('2') &&
      'headers' in response &&
      'Access-Control-Allow-Origin' in (response.headers ?? {}),
  );
}

/** The paths whose operations scripts may call; none of them has a parameter. */
export function openPathsOf({ paths = {}, components }: Document): ReadonlySet<string> {
  const responses = components?.responses as Record<string, object> | undefined;
  const isOpen = (operation: Operation) =>
    namesOpenHeader({ ...operation, responses: resolved(operation.responses ?? {}, responses) });
  const hasOpen = (item: object) => Object.values(item).some((part) => part?.responses && isOpen(part));
  return new Set(Object.keys(paths).filter((path) => hasOpen(paths[path] ?? {})));
}

/** A document as it is read refers to its shared responses. */
function resolved(
  own: Record<string, object>,
  shared: Record<string, object> | undefined,
): Record<string, never> {
  const found = Object.entries(own).map(([status, response]) => {
    const name = '$ref' in response ? String(response.$ref).split('/').at(-1) : undefined;
    return [status, name === undefined ? response : shared?.[name]];
  });
  return Object.fromEntries(found);
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
