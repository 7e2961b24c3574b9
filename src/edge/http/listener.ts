import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { boundedWarnings } from '../../telemetry/bounded-warnings.js';
import type { Log } from '../../telemetry/log.js';
import { type AnsweringOptions, exchange, fixedHeaders, STALL_TIMEOUT_MS, UNREADABLE } from './answering.js';
import { clientAddress, type Network, trusted } from './client-address.js';
import { Connections } from './connections.js';
import type { Dispatch } from './exchange.js';
import { dispatchInSlot, type SlotOptions } from './request-slots.js';
import { refuseUnread, statusOfForbidden, statusOfParserError } from './unreadable.js';
import { UnsentAnswers } from './unsent-answers.js';

const MAX_HEADER_BYTES = 16 * 1_024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the idle time of common load balancers, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Node checks for slow requests only twice a minute by default. */
const LOOK_FOR_SLOW_REQUESTS_MS = 5_000;
const MAX_CONNECTIONS = 10_000;
/**
 * Connections that wait to be accepted; the kernel caps it at `net.core.somaxconn`. With Node's 511, a burst
 * from one client makes others wait a second and more until their kernels ask again.
 */
const BACKLOG = 4_096;

const BUSY_LINES_PER_MINUTE = 1;
const UNREADABLE_LINES_PER_MINUTE = 60;

export interface ListenerOptions extends AnsweringOptions, SlotOptions {
  trustedProxies: readonly Network[];
  /** Responses then close their connections, so that few remain when the listener closes. */
  isDraining?: () => boolean;
  maxConnections?: number;
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
  const shared = { options, dispatch, addressOf, isTrusted, unsent, warnOfFullness };
  const connections = new Connections(options.maxConnections ?? MAX_CONNECTIONS, isTrusted);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    // A proxy in front may take what follows a forbidden request for a part of that request.
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
      refuse(error, socket as Socket, options, connections, warnOfUnreadable);
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
  options: ListenerOptions,
  connections: Connections,
  warn: Log['warn'],
): void {
  const { answer, unanswered } = connections.latest(socket);
  if (answer?.req.complete && !answer.closed) {
    answer.once('close', () => refuse(error, socket, options, connections, warn));
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
  warn('request', { requestId, api: options.api, operation, status, client, code: UNREADABLE });
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
