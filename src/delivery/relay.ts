import { createSecretKey, randomUUID } from 'node:crypto';
import { AttemptOutcome } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import type {
  AttemptResult,
  ClaimDeliveriesResponse,
  ClaimedDelivery,
  DeliveryBody,
  DeliveryServiceService,
  DeliveryTarget,
} from '../../generated/proto/integration/webhooks/v1/sending.js';
import { backoffDelayMs, pause } from '../../workflows/backoff.js';
import type { RpcClient } from '../rpc/client.js';
import type { Log } from '../telemetry/log.js';
import { inSpan, markFailed } from '../telemetry/tracing.js';
import type { RelayMetrics } from '../telemetry/webhook-metrics.js';
import type { AttemptReport, AttemptTime, Sender, SendTarget } from './attempt.js';
import { AttemptRecorder, FEW, reasonOf } from './attempt-recorder.js';
import { BACKOFF, Slots } from './waits.js';

export type DeliveryClient = Pick<
  RpcClient<typeof DeliveryServiceService>,
  'claimDeliveries' | 'recordAttempts'
>;

export interface RelayOptions {
  deliveries: DeliveryClient;
  sender: Sender;
  log: Log;
  /** The limit of running and unrecorded attempts. */
  sends: number;
  /** The part of it for one subscription. */
  sendsPerSubscription: number;
  metrics?: RelayMetrics;
  /** How long the domain may take to answer the first claim before a warning says so. */
  quietStartMs?: number;
}

/** How long the domain may wait for due deliveries. */
const CLAIM_WAIT_MS = 10_000;
/** With few free slots: the domain does not always learn of those that become free while the claim waits. */
const SHORT_CLAIM_WAIT_MS = 250;
/** How long the relay waits for the answer. */
const CLAIM_DEADLINE_MS = 15_000;
/** How long a stop waits for the claim in progress, which has probably begun attempts already. */
const LAST_CLAIM_MS = 250;
/** The time to record interrupted attempts after the grace. */
const LAST_RECORD_MS = 1_000;
/** The last slots: only for instance integrations with few attempts, so a claim may leave them free. */
const LAST_PART = 1 / 8;
/**
 * After a claim that left at most the last slots free, the next one waits briefly for this part: a claim for
 * few deliveries costs as much as one for many.
 */
const WORTHWHILE_PART = LAST_PART + 1 / 4;
const WORTHWHILE_WITHIN_MS = 10;
const BEGUN_AT_ONCE = 32;
/**
 * The pause after an empty answer that came too soon: the domain is shutting down, or attempts have ended,
 * and the answer to their results, which frees their slots, comes later.
 */
const SHORT_ANSWER_MS = 20;
/** Signatures do not use the clock of this machine, but operators should know of larger differences. */
const MOST_APART_MS = 5_000;
/** All roles start together, and the domain first prepares its database. */
const QUIET_START_MS = 30_000;

/** Makes every attempt: claims what it can send at once, sends, and reports results. */
export class Relay {
  readonly #slots: Slots;
  readonly #recorder: AttemptRecorder;
  readonly #stop = new AbortController();
  readonly #giveUpClaim = new AbortController();
  readonly #claiming: Promise<void>;
  #failures = 0;
  /** Failures before this time are expected, unless a claim succeeded before. */
  #quietUntil: number;
  #isWarned = false;
  /** Whether the last claim got deliveries and left at most the last slots (`LAST_PART`) free. */
  #isBehind = false;
  #isClockApart = false;

  constructor(private readonly options: RelayOptions) {
    const { deliveries, log, sends, metrics, quietStartMs = QUIET_START_MS } = options;
    this.#quietUntil = performance.now() + quietStartMs;
    this.#slots = new Slots(sends);
    metrics?.slots(() => this.#slots);
    this.#recorder = new AttemptRecorder({
      record: (results) => deliveries.recordAttempts({ results }, { requestId: requestId() }),
      onSettled: (count) => this.#slots.give(count),
      // While the last slots stay free, no more attempts than this are in progress.
      few: Math.min(FEW, Math.ceil(sends * (1 - LAST_PART))),
      log,
    });
    this.#claiming = this.#claimUntilStopped();
  }

  /** Begins no new attempts; those in progress end, or are interrupted after the grace, and are recorded. */
  async stop(graceMs: number): Promise<void> {
    this.#stop.abort();
    const over = new AbortController();
    const timers = [
      setTimeout(
        () => this.#giveUpClaim.abort(new Error('the relay stops')),
        Math.min(LAST_CLAIM_MS, graceMs),
      ),
      setTimeout(() => this.options.sender.close(), Math.max(0, graceMs - LAST_RECORD_MS)),
      setTimeout(() => over.abort(), graceMs),
    ];
    await this.#claiming;
    await this.#slots.untilFree(this.#slots.total, over.signal);
    timers.forEach(clearTimeout);
    this.#recorder.stop();
  }

  async #claimUntilStopped(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#slots.untilFree(1, signal);
      if (this.#isBehind) {
        await this.#untilFree(Math.ceil(this.#slots.total * WORTHWHILE_PART), WORTHWHILE_WITHIN_MS);
      }
      if (!signal.aborted) {
        await this.#claim();
      }
    }
  }

  async #untilFree(count: number, withinMs: number): Promise<void> {
    const over = new AbortController();
    const end = () => over.abort();
    const timer = setTimeout(end, withinMs);
    this.#stop.signal.addEventListener('abort', end, { once: true });
    await this.#slots.untilFree(count, over.signal);
    clearTimeout(timer);
    this.#stop.signal.removeEventListener('abort', end);
  }

  async #claim(): Promise<void> {
    const { deliveries, sendsPerSubscription, log } = this.options;
    const asked = performance.now();
    const freeSlots = this.#slots.free;
    const isWorthwhile = freeSlots >= this.#slots.total * WORTHWHILE_PART;
    const maxWaitMs = isWorthwhile ? CLAIM_WAIT_MS : SHORT_CLAIM_WAIT_MS;
    this.#isBehind = false;
    try {
      const claimed = await deliveries.claimDeliveries(
        {
          freeSlots,
          totalSlots: this.#slots.total,
          maxRunningPerSubscription: sendsPerSubscription,
          maxWaitMs,
        },
        { requestId: requestId(), deadlineMs: CLAIM_DEADLINE_MS, signal: this.#giveUpClaim.signal },
      );
      if (this.#isWarned) {
        log.info('webhook deliveries are claimed again', { failures: this.#failures });
      }
      this.#failures = 0;
      this.#isWarned = false;
      this.#quietUntil = 0;
      void this.#begin(claimed, asked);
      this.#isBehind = claimed.deliveries.length > 0 && this.#slots.free <= this.#slots.total * LAST_PART;
      if (claimed.deliveries.length === 0 && performance.now() - asked < maxWaitMs) {
        await this.#untilFree(freeSlots + 1, SHORT_ANSWER_MS);
      }
    } catch (error) {
      await this.#noteFailure(error);
    }
  }

  async #noteFailure(error: unknown): Promise<void> {
    if (this.#stop.signal.aborted) {
      return;
    }
    this.#failures += 1;
    const level = this.#isWarned || performance.now() < this.#quietUntil ? 'debug' : 'warn';
    this.#isWarned ||= level === 'warn';
    this.options.log[level]('webhook deliveries are not claimed for now', { reason: reasonOf(error) });
    await pause(backoffDelayMs(this.#failures, BACKOFF), this.#stop.signal);
  }

  /** In turns of the event loop, so that early answers are handled before the last attempt begins. */
  async #begin(
    { deliveries, targets, bodies, leasedForMs = 0 }: ClaimDeliveriesResponse,
    asked: number,
  ): Promise<void> {
    const leaseExpiresAt = deliveries[0]?.leaseExpiresAt;
    if (!leaseExpiresAt) {
      return;
    }
    const answeredAt = performance.now();
    // The answer may be old: this process may have been frozen before it came.
    const endsAt = asked + leasedForMs;
    // The lease ends at both times.
    const aheadMs = leaseExpiresAt.getTime() - endsAt;
    this.#compareClocks(aheadMs, answeredAt - asked);
    this.#slots.take(deliveries.length);
    const sendTargets = targets.map(sendTargetOf);
    for (const [index, delivery] of deliveries.entries()) {
      if (index > 0 && index % BEGUN_AT_ONCE === 0) {
        await new Promise(setImmediate);
      }
      const target = sendTargets[delivery.targetIndex];
      const body = bodies[delivery.bodyIndex];
      if (target && body) {
        void this.#attempt(delivery, target, body, answeredAt, { endsAt, aheadMs });
      } else {
        this.#lose(delivery, new Error('the claim names no target or body'));
      }
    }
  }

  async #attempt(
    delivery: ClaimedDelivery,
    target: SendTarget,
    body: DeliveryBody,
    answeredAt: number,
    time: AttemptTime,
  ): Promise<void> {
    const { sender, metrics, log } = this.options;
    const { waitedMs } = delivery;
    // Uses the domain's clock up to its response, and this clock afterwards: the clocks may differ.
    const waited = (before: number) => before + performance.now() - answeredAt;
    try {
      if (waitedMs !== undefined) {
        metrics?.begun(waited(waitedMs));
      }
      const report = await traced(delivery, body, () => sender.attempt(target, body, time));
      log.debug('webhook attempt', {
        requestId: body.requestId,
        eventId: body.eventId,
        deliveryId: delivery.deliveryId,
        attempt: delivery.attemptNumber,
        outcome: report.outcome,
        status: report.httpStatus,
      });
      if (waitedMs !== undefined && report.httpStatus !== undefined) {
        metrics?.received(waited(waitedMs));
      }
      this.#recorder.add({ result: resultOf(delivery, report), leaseEndsAt: time.endsAt });
    } catch (error) {
      this.#lose(delivery, error);
    }
  }

  /**
   * The domain counts the lease from the arrival of the call, which may be at any time before its answer.
   * Logs only what is true for all of these times.
   */
  #compareClocks(aheadMs: number, onItsWayMs: number): void {
    // The clock of this machine is ahead of that of the domain by a time between these two.
    const leastMs = Date.now() - (performance.now() + aheadMs);
    const mostMs = leastMs + onItsWayMs;
    const apartMs = Math.round(Math.max(leastMs, -mostMs));
    if (apartMs > MOST_APART_MS && !this.#isClockApart) {
      this.#isClockApart = true;
      const message =
        'the clock of this machine differs from that of the domain, by which webhooks are signed';
      this.options.log.warn(message, { apartMs });
    } else if (this.#isClockApart && Math.max(-leastMs, mostMs) <= MOST_APART_MS) {
      this.#isClockApart = false;
      this.options.log.info('the clocks of this machine and of the domain agree again');
    }
  }

  /** The lease lapses, and the domain records the attempt as interrupted. */
  #lose({ deliveryId }: ClaimedDelivery, error: unknown): void {
    this.options.log.error('a webhook attempt was lost', { deliveryId, reason: reasonOf(error) });
    this.#slots.give(1);
  }
}

/** Key objects are made once a claim: Node 24 takes four times as long for an HMAC whose key is bytes. */
function sendTargetOf({ url, signingSecrets }: DeliveryTarget): SendTarget {
  return { url, signingSecrets: signingSecrets.map((secret) => createSecretKey(secret)) };
}

function resultOf(
  { deliveryId, attemptNumber: number }: ClaimedDelivery,
  { retryAfterSeconds, ...report }: AttemptReport,
): AttemptResult {
  const attempt = { ...report, number, startedAt: undefined, outcome: AttemptOutcome[report.outcome] };
  return { deliveryId, attempt, retryAfterSeconds };
}

/** Makes an attempt in a span of the trace of the change that the event reports. */
function traced(
  { deliveryId, attemptNumber }: ClaimedDelivery,
  { eventId, eventType, requestId, traceparent }: DeliveryBody,
  work: () => Promise<AttemptReport>,
): Promise<AttemptReport> {
  if (traceparent === undefined) {
    return work();
  }
  const attributes = {
    'http.request.method': 'POST',
    'messaging.message.id': eventId,
    'integration.event.type': eventType,
    'integration.delivery.id': deliveryId,
    'integration.delivery.attempt': attemptNumber,
    ...(requestId !== undefined && { 'integration.request_id': requestId }),
  };
  return inSpan('POST webhook', { kind: 'client', parent: traceparent, attributes }, async (span) => {
    const report = await work();
    span?.setAttribute('integration.delivery.outcome', report.outcome);
    if (report.outcome !== 'SUCCEEDED') {
      markFailed(span, report.outcome);
    }
    if (report.httpStatus !== undefined) {
      span?.setAttribute('http.response.status_code', report.httpStatus);
    }
    return report;
  });
}

function requestId(): string {
  return `relay/${randomUUID()}`;
}
