import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Span } from '@opentelemetry/api';
import { ErrorCode, publicCode, ServiceError } from '../../errors/service-error.js';
import { OwnerSlots } from '../../fairness/owner-slots.js';
import { networkOf } from '../../identifiers/network-address.js';
import { boundedWarnings } from '../../telemetry/bounded-warnings.js';
import type { Log } from '../../telemetry/log.js';
import type { HttpRequestTimer, RequestCount } from '../../telemetry/metrics.js';
import { currentTraceId, inSpan, markFailed } from '../../telemetry/tracing.js';
import { clientAddress, type Network, trusted } from './client-address.js';
import { Connections, closedSignal } from './connections.js';
import { BUSY, type Dispatch, type DispatchedAnswer, type HttpRequest, isStream } from './exchange.js';
import { CLIENT_LEFT, ClientLeft, RequestBody } from './request-body.js';
import {
  problemBelowContracts,
  refuseUnread,
  statusOfForbidden,
  statusOfParserError,
  type UnreadableStatus,
} from './unreadable.js';
import { hasClientLeft, STREAM_BYTES, UnsentAnswers, writeStream } from './unsent-answers.js';

const MAX_HEADER_BYTES = 16 * 1_024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the idle time of common load balancers, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** How long a connection may be idle during a request or an answer. */
const STALL_TIMEOUT_MS = 20_000;
/** How long a reader may take for the next piece of a long answer. */
const PIECE_TIMEOUT_MS = 60_000;
/** Node checks for slow requests only twice a minute by default. */
const LOOK_FOR_SLOW_REQUESTS_MS = 5_000;
/** One year, for this host alone: its subdomains may belong to others. */
const HSTS = 'max-age=31536000';
const MAX_CONNECTIONS = 10_000;
/**
 * Connections that wait to be accepted; the kernel caps it at `net.core.somaxconn`. With Node's 511, a burst
 * from one client makes others wait a second and more until their kernels ask again.
 */
const BACKLOG = 4_096;
/** Unanswered requests of all connections. */
const MAX_REQUESTS = 4_096;

const REQUEST_ID_SHAPE = /^[A-Za-z0-9._-]{1,128}$/;

/** A client without a slot waits this long for its refusal, lest it ask again at once. */
const REFUSAL_WAIT_MS = 500;
/** So many wait; others are refused at once, because each takes memory. */
const MOST_WITHOUT_SLOT = 1_024;

const BUSY_LINES_PER_MINUTE = 1;
const UNREADABLE_LINES_PER_MINUTE = 60;
/** In the log, for what HTTP forbids. */
const UNREADABLE = 'unreadable';

export interface ListenerOptions {
  /** The contract that it serves, for the log. */
  api: string;
  dispatch: Dispatch;
  /** The address for browsers and clients, if known. */
  publicUrl?: string;
  /** The page that explains the codes of problems. */
  explanations?: string;
  trustedProxies: readonly Network[];
  log: Log;
  timer: HttpRequestTimer;
  inFlight?: RequestCount;
  /** Headers of refusals that come before any contract, for paths that scripts of other origins may call. */
  openHeadersAt?: (path: string) => Record<string, string>;
  /** Called for each request that finds no slot. */
  onRefused?: () => void;
  /** Responses then close their connections, so that few remain when the listener closes. */
  isDraining?: () => boolean;
  stallTimeoutMs?: number;
  pieceTimeoutMs?: number;
  maxConnections?: number;
  maxRequests?: number;
}

/** State shared by the requests of a listener. */
interface Shared {
  options: ListenerOptions;
  dispatch: Dispatch;
  addressOf: (request: IncomingMessage) => string;
  isTrusted: (address: string) => boolean;
  unsent: UnsentAnswers;
  warnOfFullness: Log['warn'];
  warnOfUnreadable: Log['warn'];
}

/** An HTTP server that answers every request once, logs it in one line and lets no error escape. */
export function createListener(options: ListenerOptions): Server {
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: LOOK_FOR_SLOW_REQUESTS_MS,
    // Otherwise Node drops the second of two Authorization headers.
    joinDuplicateHeaders: true,
    // Refused here, with a problem document.
    requireHostHeader: false,
  };
  const isTrusted = trusted(options.trustedProxies);
  const addressOf = clientAddress(isTrusted, options);
  const inSlot = dispatchInSlot(options);
  const dispatch: Dispatch = async (request) => {
    const answer = await inSlot(request);
    // While closing, the last answer of a connection closes it; a kept one would delay the end.
    const isKept = server.listening && !options.isDraining?.();
    return isKept ? answer : { ...answer, headers: { ...answer.headers, connection: 'close' } };
  };
  const warnOfFullness = boundedWarnings(options.log, BUSY_LINES_PER_MINUTE);
  const warnOfUnreadable = boundedWarnings(options.log, UNREADABLE_LINES_PER_MINUTE);
  const unsent = new UnsentAnswers();
  const shared = { options, dispatch, addressOf, isTrusted, unsent, warnOfFullness, warnOfUnreadable };
  const connections = new Connections(options.maxConnections ?? MAX_CONNECTIONS, isTrusted);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    // For a proxy in front, what follows a forbidden request may be a part of it.
    if (connections.admit(request, response, statusOfForbidden(request) !== undefined)) {
      void exchange(request, response, shared);
    }
  };
  const server = createServer(limits, answer);
  server.setTimeout(options.stallTimeoutMs ?? STALL_TIMEOUT_MS);
  server.on('connection', (socket) => connections.opened(socket));
  // The reader of the body sends 100 Continue once it wants the body.
  server.on('checkContinue', answer);
  server.on('checkExpectation', answer);
  // Otherwise Node drops those beyond the thousandth, a second Host among them.
  server.maxHeadersCount = 0;
  const refused = new WeakSet<object>();
  server.on('clientError', (error, socket) => {
    // Node reports the error again for all that follows it.
    if (!refused.has(socket)) {
      refused.add(socket);
      refuse(error, socket as Socket, shared, connections);
    }
  });
  return server;
}

/**
 * Answers what could not be read as a request, after the answers to those before it. An error in a body that
 * comes after unanswered requests ends the connection.
 */
function refuse(
  error: NodeJS.ErrnoException,
  socket: Socket,
  shared: Shared,
  connections: Connections,
): void {
  const { options, warnOfUnreadable } = shared;
  const { answer, unanswered } = connections.latest(socket);
  if (answer?.req.complete && !answer.closed) {
    answer.once('close', () => refuse(error, socket, shared, connections));
    return;
  }
  const isWithinAnswered = answer !== undefined && (answer.headersSent || unanswered > 1);
  if (!socket.writable || isWithinAnswered) {
    socket.destroy();
    return;
  }
  const { remoteAddress: client = '' } = socket;
  const status = statusOfParserError(error);
  const requestId = refuseUnread(socket, status, options.explanations, fixedHeaders(options));
  options.timer('none', status, 0, options.api);
  const operation = 'none';
  warnOfUnreadable('request', { requestId, api: options.api, operation, status, client, code: UNREADABLE });
}

/** Starts a trace, or continues that of a trusted proxy: other callers could make us record all requests. */
function exchange(request: IncomingMessage, response: ServerResponse, shared: Shared): Promise<void> {
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
  const { api, log, timer, inFlight } = shared.options;
  inFlight?.(api, 1);
  const startedAt = performance.now();
  const requestId = requestIdOf(request);
  const method = request.method ?? 'GET';
  const body = new RequestBody(request, response);
  const client = shared.addressOf(request);
  let answer: DispatchedAnswer = { status: CLIENT_LEFT, headers: {}, operation: 'none' };
  const send = () => write(response, { requestId, client }, answer, body, shared);
  try {
    const readBody = () => body.read();
    const { headers } = request;
    const target = splitTarget(request.url ?? '/');
    const from = { clientAddress: client, network: networkOf(client) };
    const left = closedSignal(request.socket);
    // Node sets it back before the next request.
    const wait = (ms: number) =>
      void request.socket.setTimeout(ms + (shared.options.stallTimeoutMs ?? STALL_TIMEOUT_MS));
    const asked = { method, ...target, headers, requestId, ...from, readBody, left, wait };
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
      answer = { ...answer, status, facts: { ...answer.facts, code: 'client_left' } };
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
  const durationMs = performance.now() - startedAt;
  timer(answer.operation, answer.status, durationMs, api);
  span?.updateName(`${method} ${answer.operation}`);
  span?.setAttribute('integration.request_id', requestId);
  span?.setAttribute('http.response.status_code', answer.status);
  if (answer.status >= 500) {
    markFailed(span, String(answer.status));
  }
  inFlight?.(api, -1);
  const level = answer.level ?? (answer.status >= 500 ? 'error' : 'info');
  const tell = answer.facts?.code === BUSY ? shared.warnOfFullness : log[level];
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

function belowContracts(
  status: UnreadableStatus,
  { path, requestId }: HttpRequest,
  code: string,
  { explanations, openHeadersAt }: ListenerOptions,
): DispatchedAnswer {
  const { headers, body } = problemBelowContracts(status, requestId, explanations);
  return {
    ...{ status, body, operation: 'none', facts: { code } },
    headers: { ...headers, ...openHeadersAt?.(path) },
  };
}

/** Each network has its share of slots, so that one network does not block the others. */
function dispatchInSlot(options: ListenerOptions): Dispatch {
  const { dispatch, maxRequests = MAX_REQUESTS } = options;
  const slots = new OwnerSlots({ inTotal: maxRequests });
  let withoutSlot = 0;
  return async (request) => {
    const { network } = request;
    if (!slots.take(network)) {
      options.onRefused?.();
      if (withoutSlot < MOST_WITHOUT_SLOT) {
        withoutSlot += 1;
        await pause(REFUSAL_WAIT_MS);
        withoutSlot -= 1;
      }
      return belowContracts(503, request, BUSY, options);
    }
    try {
      return await dispatch(request);
    } finally {
      slots.give(network);
    }
  };
}

async function write(
  response: ServerResponse,
  { requestId, client }: { requestId: string; client: string },
  { status, headers, body = '', facts }: DispatchedAnswer,
  asked: RequestBody,
  { options, unsent }: Shared,
): Promise<void> {
  const owner = String(facts?.integrationId ?? client);
  const bodyless = status === 304 || status === 204;
  const streamed = isStream(body);
  try {
    response.writeHead(status, {
      'x-request-id': requestId,
      ...fixedHeaders(options),
      ...(bodyless || streamed ? {} : { 'content-length': Buffer.byteLength(body) }),
      ...headers,
      ...(asked.spoilsConnection ? { connection: 'close' } : {}),
    });
    if (response.req.method === 'HEAD' || bodyless) {
      response.end();
    } else if (streamed) {
      unsent.add(response, owner, STREAM_BYTES);
      await writeStream(response, body, options.pieceTimeoutMs ?? PIECE_TIMEOUT_MS);
    } else if (asked.spoilsConnection) {
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
function fixedHeaders({ publicUrl }: ListenerOptions): Record<string, string> {
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

/** Listens, or throws a sentence with the reason. */
export async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen({ port, host, backlog: BACKLOG });
  await once(server, 'listening');
}

/** Stops accepting connections, lets requests end, and cuts the rest after the grace. */
export async function closeListener(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}
