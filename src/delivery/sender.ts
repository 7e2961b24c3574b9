import { createHmac, type KeyObject } from 'node:crypto';
import type { DeliveryBody } from '../../generated/proto/integration/webhooks/v1/sending.js';
import { currentTraceparent } from '../telemetry/tracing.js';
import type { AttemptMetrics } from '../telemetry/webhook-metrics.js';
import type { AttemptOutcome, AttemptReport, AttemptTime, Sender, SendTarget } from './attempt.js';
import { type Connection, Connections } from './connections.js';
import type { DialOptions } from './dial.js';
import { Exchange, type ExchangeEnd, nameOf } from './exchange.js';

export interface SenderOptions extends DialOptions {
  /** The version of the service, for the User-Agent. */
  version: string;
  metrics?: AttemptMetrics;
}

/**
 * Per exchange and the time until the next, in KiB: four times what headers and kept body may have. Interim
 * (1xx) answers count too.
 */
const MAX_RECEIVED_KIB = 128;
/** Of the answer to an attempt that succeeded: receivers have little to say in it. */
const MAX_SUCCESSFUL_ANSWER_BYTES = 1_024;
const CHECK_EVERY_MS = 100;
/** Kept at the end of a lease to report the attempt: a failure reported later does not count. */
const REPORT_MS = 1_000;
/** A shorter lease means that the domain answered the claim late, which is not the receiver's fault. */
const LEAST_OF_LEASE_MS = 10_000;
/** The flags at the end of a `traceparent` that is recorded. */
const SAMPLED = '-01';

/** Posts signed events to untrusted receivers, with limits on time, size and address. */
export class HttpSender implements Sender {
  readonly #connections: Connections;
  readonly #running = new Map<Exchange, Connection>();
  #sizeCheck: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(private readonly options: SenderOptions) {
    this.#connections = new Connections(options);
  }

  attempt(target: SendTarget, body: DeliveryBody, time?: AttemptTime): Promise<AttemptReport> {
    const { metrics } = this.options;
    const started = performance.now();
    metrics?.begun();
    return new Promise((resolve) => {
      this.#exchange(target, body, time, ({ outcome, message }, exchange) => {
        const durationMs = Math.round(performance.now() - started);
        metrics?.ended(body.eventType, outcome, durationMs);
        resolve({
          durationMs,
          outcome,
          message,
          httpStatus: exchange?.httpStatus,
          responseStart: keptOf(exchange, outcome),
          retryAfterSeconds: exchange?.retryAfterSeconds,
        });
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const exchange of this.#running.keys()) {
      exchange.end('INTERRUPTED', 'The service stopped before the answer came.');
    }
    this.#connections.close();
  }

  #exchange(
    target: SendTarget,
    delivery: DeliveryBody,
    time: AttemptTime | undefined,
    onEnd: (end: Refusal | ExchangeEnd, exchange?: Exchange) => void,
    startedAt = performance.now(),
  ): void {
    const { url, signingSecrets } = target;
    const { eventId, body } = delivery;
    const refused = refusalOf(url, signingSecrets, this.#isClosed);
    if (refused) {
      onEnd(refused);
      return;
    }
    const { origin, host, pathname, search } = new URL(url);
    const connection = this.#connections.take(new URL(origin));
    const isKept = connection.isUsable;
    // The sockets get a turn first: while the event loop stalled, the answer may have come.
    const limitMs = this.#limitMs(startedAt, time);
    const timeOut = () => setImmediate(() => endLate(exchange, connection, limitMs));
    const timer = setTimeout(timeOut, Math.ceil(startedAt + limitMs - performance.now()));
    const ended = (end: ExchangeEnd) => {
      clearTimeout(timer);
      this.#running.delete(exchange);
      end.isConnectionFree ? this.#connections.release(connection) : connection.destroy();
      if (isKept && !exchange.hasConnection && end.outcome === 'CONNECTION_FAILED') {
        // It closed before anything was written, as after a stall in which its idle limit ended.
        this.#exchange(target, delivery, time, onEnd, startedAt);
      } else {
        onEnd(end, exchange);
      }
    };
    const { endsAt = Number.POSITIVE_INFINITY, aheadMs = Date.now() - performance.now() } = time ?? {};
    const exchange = new Exchange(host, ended, { endsAt, aheadMs });
    connection.allow(MAX_RECEIVED_KIB * 1_024);
    this.#running.set(exchange, connection);
    this.#sizeCheck ??= setInterval(() => this.#endTooLarge(), CHECK_EVERY_MS).unref();
    const seconds = Math.floor((performance.now() + aheadMs) / 1_000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': `IntegrationService-Webhooks/${this.options.version}`,
      'webhook-id': eventId,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signaturesOf(signingSecrets, eventId, seconds, body),
      ...traceHeaders(),
    };
    connection.client.dispatch({ method: 'POST', path: `${pathname}${search}`, headers, body }, exchange);
  }

  #endTooLarge(): void {
    for (const [exchange, connection] of this.#running) {
      if (connection.hasSentTooMuch) {
        exchange.end('PROTOCOL_ERROR', `The answer is not complete after ${MAX_RECEIVED_KIB} KiB.`);
      }
    }
    const areAnyKept = this.#connections.closeTalkative();
    if (this.#running.size === 0 && !areAnyKept) {
      clearInterval(this.#sizeCheck);
      this.#sizeCheck = undefined;
    }
  }

  /** The lease ends first where the domains have a shorter WEBHOOK_TIMEOUT than this worker. */
  #limitMs(startedAt: number, { endsAt = Number.POSITIVE_INFINITY }: Partial<AttemptTime> = {}): number {
    const leaseMs = Math.floor(endsAt - startedAt) - REPORT_MS;
    const { timeoutMs } = this.options;
    return leaseMs < LEAST_OF_LEASE_MS ? timeoutMs : Math.min(timeoutMs, leaseMs);
  }
}

function endLate(exchange: Exchange, { phase, origin: { host } }: Connection, limitMs: number): void {
  exchange.end('TIMED_OUT', timeOutMessage(exchange, phase, host, `within ${limitMs / 1_000} s`));
}

/** The part of the answer that is recorded. */
function keptOf(exchange: Exchange | undefined, outcome: AttemptOutcome): Buffer {
  const start = exchange?.responseStart ?? Buffer.alloc(0);
  return outcome === 'SUCCEEDED' ? start.subarray(0, MAX_SUCCESSFUL_ANSWER_BYTES) : start;
}

/** Lets a receiver continue the trace, if the service records it. */
function traceHeaders() {
  const traceparent = currentTraceparent();
  return traceparent?.endsWith(SAMPLED) ? { traceparent } : {};
}

type Refusal = Pick<ExchangeEnd, 'outcome' | 'message'>;

/** Why the delivery must not be sent, if so. */
function refusalOf(
  url: string,
  signingSecrets: readonly KeyObject[],
  isClosed: boolean,
): Refusal | undefined {
  if (isClosed) {
    return { outcome: 'INTERRUPTED', message: 'Nothing was sent: the service was stopping.' };
  }
  if (signingSecrets.length === 0) {
    const message = 'Nothing was sent: the subscription has no secret to sign with.';
    return { outcome: 'INTERRUPTED', message };
  }
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    const message = 'Nothing was sent: the address of the subscription is not a web address.';
    return { outcome: 'ADDRESS_REFUSED', message };
  }
  return undefined;
}

function timeOutMessage(
  { httpStatus, hasConnection }: Exchange,
  phase: Connection['phase'],
  host: string,
  within: string,
): string {
  if (httpStatus !== undefined) {
    return `The answer (${nameOf(httpStatus)}) began but was not complete ${within}.`;
  }
  if (hasConnection) {
    return `${host} accepted the connection but did not answer ${within}.`;
  }
  switch (phase) {
    case 'name':
      return `The name servers gave no answer for ${host} ${within}.`;
    case 'tcp':
      return `No connection to ${host} was established ${within}.`;
    default:
      return `The TLS handshake with ${host} was not complete ${within}.`;
  }
}

/**
 * The `webhook-signature` of Standard Webhooks over id, timestamp and body, one per valid secret, so that
 * receivers may have either during a rotation. Hashes the body in place.
 */
export function signaturesOf(
  secrets: readonly KeyObject[],
  eventId: string,
  timestampSeconds: number,
  body: Uint8Array,
): string {
  const signedPrefix = `${eventId}.${timestampSeconds}.`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(signedPrefix).update(body).digest('base64')}`)
    .join(' ');
}
