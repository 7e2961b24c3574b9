import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import proxyAddr from 'proxy-addr';
import { OwnerSlots } from '../../fairness/owner-slots.js';
import { boundedWarnings, type Log } from '../../telemetry/log.js';
import { type AnsweringOptions, exchange, fixedHeaders, STALL_TIMEOUT_MS, UNREADABLE } from './answering.js';
import { Connections } from './connections.js';
import { BUSY, type Dispatch, RequestBody } from './exchange.js';
import { belowContracts, refuseUnread, statusOfForbidden, statusOfParserError } from './unreadable.js';
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
/** Unanswered requests of all connections. */
const MAX_REQUESTS = 4_096;
/** A client without a slot waits this long for its refusal, lest it ask again at once. */
const REFUSAL_WAIT_MS = 500;
/** So many wait; others are refused at once, because each takes memory. */
const MOST_WITHOUT_SLOT = 1_024;

const BUSY_LINES_PER_MINUTE = 1;
const UNREADABLE_LINES_PER_MINUTE = 60;

export interface ListenerOptions extends AnsweringOptions {
  dispatch: Dispatch;
  trustedProxies: readonly Network[];
  /** Responses then close their connections, so that few remain when the listener closes. */
  isDraining?: () => boolean;
  maxConnections?: number;
  maxRequests?: number;
  /** Called for each request that is refused for want of a slot. */
  onRefused?: () => void;
}

export interface Network {
  readonly address: string;
  readonly prefix: number;
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
    } else {
      // Limits how much of the body of an unanswered request Node keeps.
      new RequestBody(request, response);
    }
  };
  const server = createServer(limits, answer);
  // `close` calls it. Node's own would cut an answer that has ended and is still being sent.
  server.closeIdleConnections = () => connections.stop();
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
  // On an unused connection, a client would take this answer for that to its next request.
  const isSpare = socket.bytesRead === 0;
  if (!socket.writable || isWithinAnswered || isSpare) {
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

/** Stops accepting connections, lets requests and answers end, and cuts the rest after the grace. */
export async function closeListener(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}

/**
 * Each network has its share of slots, so that one network does not block the others. For a network that gets
 * none, the one with most bodies on their way loses the one awaited longest, if those are more.
 */
function dispatchInSlot(options: ListenerOptions): Dispatch {
  const { dispatch, maxRequests = MAX_REQUESTS } = options;
  const slots = new OwnerSlots({ inTotal: maxRequests });
  const bodies = new AwaitedBodies();
  let withoutSlot = 0;
  const takeSlot = (network: string): boolean => {
    if (slots.take(network)) {
      return true;
    }
    // One is refused: this one, or the one whose body is given up.
    options.onRefused?.();
    // It keeps at least as many as this one gets, so that a network with few slow bodies loses none.
    const loser = bodies.giveUpOne(slots.heldBy(network) + 1);
    if (loser !== undefined) {
      slots.move(loser, network);
    }
    return loser !== undefined;
  };
  return async (request) => {
    const { network } = request;
    if (!takeSlot(network)) {
      if (withoutSlot < MOST_WITHOUT_SLOT) {
        withoutSlot += 1;
        await pause(REFUSAL_WAIT_MS);
        withoutSlot -= 1;
      }
      return belowContracts(503, request, BUSY, options);
    }
    let hasSlot = true;
    const giveUp = () => {
      hasSlot = false;
      request.giveUpBody();
    };
    const readBody = () => bodies.during(network, giveUp, request.readBody);
    try {
      return await dispatch({ ...request, readBody });
    } finally {
      if (hasSlot) {
        slots.give(network);
      }
    }
  };
}

/** The client's address: X-Forwarded-For as far as trusted proxies wrote it. Empty once disconnected. */
export function clientAddress(
  isTrusted: (address: string) => boolean,
  { api, log }: { api: string; log: Log },
): (request: IncomingMessage) => string {
  let hasWarned = false;
  return (request) => {
    const peer = request.socket.remoteAddress;
    if (peer === undefined) {
      return '';
    }
    if (!hasWarned && request.headers['x-forwarded-for'] !== undefined && !isTrusted(peer)) {
      hasWarned = true;
      log.warn('ignored X-Forwarded-For; if the peer is your proxy, add its address to TRUSTED_PROXIES', {
        api,
        peer,
      });
    }
    // A trusted proxy may forward text that is not an address; then the address of the proxy counts.
    const known = proxyAddr.all(request, isTrusted).map(withoutPort);
    return known.findLast((address) => isIP(address) !== 0) ?? peer;
  };
}

export function trusted(proxies: readonly Network[]): (address: string) => boolean {
  const isWithin = proxyAddr.compile(proxies.map(({ address, prefix }) => `${address}/${prefix}`));
  return (address) => isWithin(withoutPort(address), 0);
}

/** Some proxies append the port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/;

function withoutPort(address: string): string {
  const [, ipv6, ipv4] = WITH_PORT.exec(address) ?? [];
  return ipv6 ?? ipv4 ?? address;
}

/** Requests whose bodies have not arrived completely. */
class AwaitedBodies {
  /** Per network, what gives each up; the one awaited longest is first. */
  readonly #ofNetwork = new Map<string, Set<() => void>>();

  /** Reads a body, which counts until it is read. `giveUp` ends the reading. */
  async during(network: string, giveUp: () => void, read: () => Promise<Buffer>): Promise<Buffer> {
    const bodies = this.#ofNetwork.get(network) ?? new Set();
    this.#ofNetwork.set(network, bodies.add(giveUp));
    try {
      return await read();
    } finally {
      if (bodies.delete(giveUp) && bodies.size === 0) {
        this.#ofNetwork.delete(network);
      }
    }
  }

  /** Gives up the body awaited longest of the network with most, if those are more. Returns the network. */
  giveUpOne(moreThan: number): string | undefined {
    let greatest: [network: string, bodies: Set<() => void>] | undefined;
    for (const entry of this.#ofNetwork) {
      if (entry[1].size > (greatest?.[1].size ?? moreThan)) {
        greatest = entry;
      }
    }
    const [network, bodies = new Set<() => void>()] = greatest ?? [];
    const [giveUp] = bodies;
    if (giveUp) {
      bodies.delete(giveUp);
      giveUp();
    }
    return network;
  }
}
