import { type AttemptOutcome, type DeliveryAttempt, MAX_ATTEMPTS } from './deliveries.js';
import type { DeliveryProgress } from './sending.js';

/** How an attempt ended, as its sender tells it. */
export interface AttemptResult {
  deliveryId: DeliveryProgress['id'];
  /** It ends when it is recorded; without a beginning it began when its delivery was claimed. */
  attempt: Omit<DeliveryAttempt, 'startedAt' | 'endedAt'> & { startedAt?: number };
  /** What a receiver that has too much to do asked for. */
  retryAfterSeconds?: number;
}

export interface RetryRules {
  now: number;
  /** Before the second attempt and before the third. */
  retryDelaysMs: readonly [number, number];
  random: () => number;
}

/** What follows for a delivery from a result. */
export interface Settlement {
  delivery: DeliveryProgress;
  /** Whether the attempt is recorded for the first time, corrects what was recorded of it, or is known already. */
  attempt: 'new' | 'corrected' | 'known';
}

const JITTER = 0.2;
const MAX_RETRY_AFTER_MS = 3_600_000;
const GONE = 410;
/** Too Many Requests, and Service Unavailable: who answers so knows when to come back. */
const HONOURED_RETRY_AFTER = [429, 503];

/** `known` is how the attempt ended as far as that is recorded already. */
export function settle(
  delivery: DeliveryProgress,
  known: AttemptOutcome | undefined,
  result: AttemptResult,
  rules: RetryRules,
): Settlement {
  const { number, outcome } = result.attempt;
  const neverBegan = number < 1 || number > delivery.attemptsBegun;
  if (neverBegan || known === 'SUCCEEDED' || (known !== undefined && outcome !== 'SUCCEEDED')) {
    return { delivery, attempt: 'known' };
  }
  // An attempt that runs meanwhile runs on, and is recorded when it ends.
  const rested = number === delivery.attemptsBegun ? atRest(delivery) : delivery;
  return {
    delivery: outcome === 'SUCCEEDED' ? delivered(rested, rules.now) : failed(rested, result, rules),
    attempt: known === undefined ? 'new' : 'corrected',
  };
}

/** Whether the receiver says that nothing will ever be received there again. */
export function saysGone({ attempt: { outcome, httpStatus } }: AttemptResult): boolean {
  return outcome === 'STATUS_REFUSED' && httpStatus === GONE;
}

/** When an attempt after this one is due: no earlier than the receiver asked for, if that is within bounds. */
export function retryAt(
  { attempt: { number, httpStatus }, retryAfterSeconds }: AttemptResult,
  { now, retryDelaysMs, random }: RetryRules,
): number {
  const delayMs = retryDelaysMs[number - 1] ?? retryDelaysMs[1];
  const jitteredMs = delayMs * (1 + JITTER * (2 * random() - 1));
  const honoured = httpStatus !== null && HONOURED_RETRY_AFTER.includes(httpStatus);
  const askedMs = honoured ? (retryAfterSeconds ?? 0) * 1_000 : 0;
  return now + Math.round(Math.max(jitteredMs, Math.min(askedMs, MAX_RETRY_AFTER_MS)));
}

/** Without further attempts; one that runs may still succeed. */
export function givenUp(delivery: DeliveryProgress, now: number): DeliveryProgress {
  return delivery.status === 'PENDING' ? exhausted(delivery, now) : delivery;
}

function atRest(delivery: DeliveryProgress): DeliveryProgress {
  return { ...delivery, attemptStartedAt: null, leaseUntil: null };
}

/** Whatever else became of it meanwhile: it was received. */
function delivered(delivery: DeliveryProgress, now: number): DeliveryProgress {
  return delivery.status === 'DELIVERED'
    ? delivery
    : { ...delivery, status: 'DELIVERED', nextAttemptAt: null, endedAt: now };
}

function failed(delivery: DeliveryProgress, result: AttemptResult, rules: RetryRules): DeliveryProgress {
  if (delivery.status !== 'PENDING' || result.attempt.number < delivery.attemptsBegun) {
    return delivery;
  }
  return delivery.attemptsBegun < MAX_ATTEMPTS
    ? { ...delivery, nextAttemptAt: retryAt(result, rules) }
    : exhausted(delivery, rules.now);
}

function exhausted(delivery: DeliveryProgress, now: number): DeliveryProgress {
  return { ...delivery, status: 'EXHAUSTED', nextAttemptAt: null, endedAt: now };
}
