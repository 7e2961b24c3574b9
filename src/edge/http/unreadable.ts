import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { components } from '../../../generated/openapi/gateway.js';
import type { DispatchedAnswer, HttpAnswer, HttpRequest } from './exchange.js';

type Problem = components['schemas']['Problem'];

const MESSAGES = {
  400: 'The request is not valid HTTP.',
  408: 'The request did not arrive in time.',
  413: 'The chunk extensions of the body are too long.',
  417: 'The only supported expectation is 100-continue.',
  431: 'The header fields and the address of the request are too long.',
  503: 'The service has too many requests to answer. Try again in a second.',
} as const;

type UnreadableStatus = keyof typeof MESSAGES;

/** As `x-unread-requests` of the documents has them. */
export const UNREADABLE_STATUSES = Object.keys(MESSAGES).map(Number) as UnreadableStatus[];

const STATUS_OF: Partial<Record<string, UnreadableStatus>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/** How long a peer may keep its side of a refused connection open. */
const LINGER_MS = 2_000;

/** The status for a request that Node's parser reported as an error. */
export function statusOfParserError({ code = '' }: NodeJS.ErrnoException): UnreadableStatus {
  return STATUS_OF[code] ?? 400;
}

/** The status for a request that Node's parser accepts and HTTP forbids, or undefined. */
export function statusOfForbidden({ headers, httpVersion }: IncomingMessage): 400 | 417 | undefined {
  const { expect, host, 'transfer-encoding': coding } = headers;
  // Node joins repeated fields with a comma and a space, which no host contains.
  if (host === undefined ? httpVersion === '1.1' : host.includes(', ')) {
    return 400;
  }
  // A proxy that speaks HTTP/1.0 may see another end of the body (RFC 9112, section 6.1).
  if (coding !== undefined && httpVersion !== '1.1') {
    return 400;
  }
  return expect === undefined || /^100-continue$/i.test(expect) ? undefined : 417;
}

/** The answer to a request that reaches no contract. */
export function problemBelowContracts(
  status: UnreadableStatus,
  requestId: string,
  explanations: string | undefined,
): HttpAnswer & { body: string } {
  const code = status === 503 ? 'unavailable' : 'invalid_request';
  const problem: Problem = {
    type: explanations === undefined ? 'about:blank' : `${explanations}#${code}`,
    title: STATUS_CODES[status] as string,
    status,
    code,
    message: MESSAGES[status],
    requestId,
  };
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(status === 503 ? { 'retry-after': 1 } : { connection: 'close' }),
    },
    body: JSON.stringify(problem),
  };
}

export interface RefusalOptions {
  /** The page that explains the codes of problems. */
  explanations?: string;
  /** Headers of refusals that come before any contract, for paths that scripts of other origins may call. */
  openHeadersAt?: (path: string) => Record<string, string>;
}

/** The same with its names for log and metrics. */
export function belowContracts(
  status: UnreadableStatus,
  { path, requestId }: HttpRequest,
  code: string,
  { explanations, openHeadersAt }: RefusalOptions,
): DispatchedAnswer {
  const { headers, body } = problemBelowContracts(status, requestId, explanations);
  return {
    ...{ status, body, operation: 'none', facts: { code } },
    headers: { ...headers, ...openHeadersAt?.(path) },
  };
}

/** Refuses what arrived on a connection without becoming a request. Returns the id of the refusal. */
export function refuseUnread(
  socket: Socket,
  status: UnreadableStatus,
  explanations: string | undefined,
  more: HttpAnswer['headers'],
): string {
  const requestId = randomUUID();
  const { headers, body } = problemBelowContracts(status, requestId, explanations);
  const fields = { 'x-request-id': requestId, ...more, ...headers, 'content-length': body.length };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(linger));
  return requestId;
}
