import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Span } from '@opentelemetry/api';
import { ErrorCode, publicCode, ServiceError } from '../../errors/service-error.js';
import { networkOf } from '../../identifiers/network-address.js';
import type { Log } from '../../telemetry/log.js';
import type { HttpRequestTimer, RequestCount } from '../../telemetry/metrics.js';
import { currentTraceId, inSpan, markFailed } from '../../telemetry/tracing.js';
import { closedSignal } from './connections.js';
import {
  BUSY,
  CLIENT_LEFT,
  ClientLeft,
  type Dispatch,
  type DispatchedAnswer,
  isStream,
  RequestBody,
} from './exchange.js';
import { belowContracts, type RefusalOptions, statusOfForbidden } from './unreadable.js';
import { hasClientLeft, STREAM_BYTES, type UnsentAnswers, writeStream } from './unsent-answers.js';

/** How long a connection may be idle during a request or an answer. */
export const STALL_TIMEOUT_MS = 20_000;
/** How long a reader may take for the next piece of a long answer. */
const PIECE_TIMEOUT_MS = 60_000;
/** One year, for this host alone: its subdomains may belong to others. */
const HSTS = 'max-age=31536000';
const REQUEST_ID_SHAPE = /^[A-Za-z0-9._-]{1,128}$/;
/** In the log, for what HTTP forbids. */
export const UNREADABLE = 'unreadable';

export interface AnsweringOptions extends RefusalOptions {
  /** The contract that it serves, for the log. */
  api: string;
  /** The address for browsers and clients, if known. */
  publicUrl?: string;
  log: Log;
  timer: HttpRequestTimer;
  inFlight?: RequestCount;
  stallTimeoutMs?: number;
  pieceTimeoutMs?: number;
}

/** State shared by the requests of a listener. */
export interface Shared {
  options: AnsweringOptions;
  dispatch: Dispatch;
  addressOf: (request: IncomingMessage) => string;
  isTrusted: (address: string) => boolean;
  unsent: UnsentAnswers;
  warnOfFullness: Log['warn'];
}

/** Starts a trace, or continues that of a trusted proxy: other callers could make us record all requests. */
export function exchange(request: IncomingMessage, response: ServerResponse, shared: Shared): Promise<void> {
  const { method = 'GET', headers, socket } = request;
  const { traceparent } = headers;
  const isGiven = typeof traceparent === 'string' && shared.isTrusted(socket.remoteAddress ?? '');
  const parent = isGiven ? traceparent : undefined;
  const attributes = { 'http.request.method': method, 'integration.api': shared.options.api };
  return inSpan(method, { kind: 'server', parent, attributes }, (span) =>
    exchangeTraced(request, response, shared, span),
  );
}

async function exchangeTraced(
  request: IncomingMessage,
  response: ServerResponse,
  shared: Shared,
  span: Span | undefined,
): Promise<void> {
  const { api, log, inFlight } = shared.options;
  inFlight?.(api, 1);
  const startedAt = performance.now();
  const requestId = requestIdOf(request);
  const method = request.method ?? 'GET';
  const body = new RequestBody(request, response);
  const client = shared.addressOf(request);
  let answer: DispatchedAnswer = { status: CLIENT_LEFT, headers: {}, operation: 'none' };
  let begunAt: number | undefined;
  const send = () => {
    // What follows is as slow as its reader.
    begunAt = performance.now();
    return write(response, { requestId, client }, answer, body, shared);
  };
  try {
    const readBody = () => body.read();
    const giveUpBody = () => body.giveUp();
    const { headers } = request;
    const target = splitTarget(request.url ?? '/');
    const from = { clientAddress: client, network: networkOf(client) };
    const left = closedSignal(request.socket);
    // Node sets it back before the next request.
    const wait = (ms: number) =>
      void request.socket.setTimeout(ms + (shared.options.stallTimeoutMs ?? STALL_TIMEOUT_MS));
    const holds = (bytes: number, owner: string) => {
      shared.unsent.add(response, owner, bytes);
      return shared.unsent.hasRoomFor(owner);
    };
    const asked = { method, ...target, headers, requestId, ...from, readBody, giveUpBody, left, wait, holds };
    const forbidden = statusOfForbidden(request);
    answer = forbidden
      ? belowContracts(forbidden, asked, UNREADABLE, shared.options)
      : await shared.dispatch(asked);
    if (left.aborted && answer.status < 500) {
      await (isStream(answer.body) && answer.body.return());
      throw new ClientLeft();
    }
    await send();
  } catch (error) {
    if (hasClientLeft(error)) {
      const status = response.headersSent ? answer.status : CLIENT_LEFT;
      answer = { ...answer, level: undefined, status, facts: { ...answer.facts, code: 'client_left' } };
    } else if (response.headersSent && isRefusal(error)) {
      // For example of a key that was revoked while its list was read.
      answer.facts = { ...answer.facts, code: publicCode(error.code) };
      response.destroy();
    } else {
      // For example an invalid header value. Uncaught, it would end the process. The client gets a bare
      // status or, after the headers, a reset connection.
      log.error('request could not be answered', { requestId, stack: (error as Error).stack });
      answer = {
        ...answer,
        level: undefined,
        status: 500,
        headers: { 'cache-control': 'no-store' },
        body: '',
      };
      if (response.headersSent) {
        response.destroy();
      } else {
        await send();
      }
    }
  }
  inFlight?.(api, -1);
  const endedAt = performance.now();
  const times = { answeredMs: (begunAt ?? endedAt) - startedAt, durationMs: endedAt - startedAt };
  record(shared, { requestId, method, client, answer, ...times }, span);
}

interface Exchanged {
  requestId: string;
  method: string;
  client: string;
  answer: DispatchedAnswer;
  /** Until the answer began. */
  answeredMs: number;
  durationMs: number;
}

/** Counts and traces an exchange that has ended, and logs it in one line. */
function record(
  { options: { api, log, timer }, warnOfFullness }: Shared,
  { requestId, method, client, answer, answeredMs, durationMs }: Exchanged,
  span: Span | undefined,
): void {
  timer(answer.operation, answer.status, answeredMs, api);
  span?.updateName(`${method} ${answer.operation}`);
  span?.setAttribute('integration.request_id', requestId);
  span?.setAttribute('http.response.status_code', answer.status);
  if (answer.status >= 500) {
    markFailed(span, String(answer.status));
  }
  const level = answer.level ?? (answer.status >= 500 ? 'error' : 'info');
  const tell = answer.facts?.code === BUSY ? warnOfFullness : log[level];
  tell('request', {
    requestId,
    api,
    method,
    operation: answer.operation,
    status: answer.status,
    durationMs: Math.round(durationMs * 10) / 10,
    client,
    traceId: currentTraceId(),
    ...answer.facts,
  });
}

/** The domain refused to go on, which is no fault. */
function isRefusal(error: unknown): error is ServiceError {
  return (
    error instanceof ServiceError &&
    error.code !== ErrorCode.INTERNAL_ERROR &&
    error.code !== ErrorCode.UNAVAILABLE
  );
}

async function write(
  response: ServerResponse,
  { requestId, client }: { requestId: string; client: string },
  { status, headers, body = '', facts }: DispatchedAnswer,
  asked: RequestBody,
  { options, unsent }: Shared,
): Promise<void> {
  const owner = String(facts?.integrationId ?? networkOf(client));
  const bodyless = status === 304 || status === 204;
  const streamed = isStream(body);
  // Read once: more of the request body may arrive meanwhile.
  const isLast = asked.spoilsConnection;
  try {
    response.writeHead(status, {
      'x-request-id': requestId,
      ...fixedHeaders(options),
      ...(bodyless || streamed ? {} : { 'content-length': Buffer.byteLength(body) }),
      ...headers,
      ...(isLast ? { connection: 'close' } : {}),
    });
    if (response.req.method === 'HEAD' || bodyless) {
      response.end();
    } else if (streamed) {
      unsent.add(response, owner, STREAM_BYTES);
      await writeStream(response, body, options.pieceTimeoutMs ?? PIECE_TIMEOUT_MS);
    } else if (isLast) {
      response.write(body);
      await asked.discard();
      response.end();
    } else {
      response.end(body);
    }
    unsent.addWhole(response, owner);
  } finally {
    if (streamed) {
      await body.return();
    }
  }
}

/** Of every answer. */
export function fixedHeaders({ publicUrl }: AnsweringOptions): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    ...(publicUrl?.startsWith('https:') ? { 'strict-transport-security': HSTS } : {}),
  };
}

/** The caller's id if it is safe to log, else a new one. */
function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID_SHAPE.test(given) ? given : randomUUID();
}

/** Splits by hand: a URL parser would normalize `//` or `..`, which must fail. Accepts absolute URLs. */
function splitTarget(target: string): { path: string; query: URLSearchParams; rawQuery: string } {
  const withoutOrigin = target.replace(/^https?:\/\/[^/?#]*/i, '');
  const [beforeQuery = '', ...rest] = withoutOrigin.split('#')[0]?.split('?') ?? [];
  const rawQuery = rest.join('?');
  return { path: beforeQuery || '/', query: new URLSearchParams(rawQuery), rawQuery };
}
