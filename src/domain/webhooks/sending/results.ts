import { type AttemptOutcome, type DeliveryAttempt, MAX_ATTEMPTS } from '../deliveries.js';
import type { DeliveryProgress } from './sending.js';

/** The end of an attempt, as its sender reports it. */
export interface AttemptResult {
  deliveryId: DeliveryProgress['id'];
  /** It ends at its recording; by default it began with the claim. */
  attempt: Omit<DeliveryAttempt, 'startedAt' | 'endedAt'> & { startedAt?: number };
  /** The wait that a busy receiver asked for. */
  retryAfterSeconds?: number;
}

export interface RetryRules {
  now: number;
  /** Before the second and the third attempt. */
  retryDelaysMs: readonly [number, number];
  /** Of the next attempt, after its due time. */
  graceMs: number;
  random: () => number;
}

/** The consequences of a result. */
export interface Settlement {
  delivery: DeliveryProgress;
  /** Whether the result is new, corrects the recorded one, or is known. */
  attempt: 'new' | 'corrected' | 'known';
}

const JITTER = 0.2;
const MAX_RETRY_AFTER_MS = 3_600_000;
const GONE = 410;
/** Too Many Requests and Service Unavailable, whose Retry-After counts. */
const HONOURED_RETRY_AFTER = [429, 503];

/** `known` is the recorded outcome, if any. */
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
  // A concurrent attempt continues, and is recorded at its end.
  const rested = number === delivery.attemptsBegun ? atRest(delivery) : delivery;
  return {
    delivery: outcome === 'SUCCEEDED' ? delivered(rested, rules.now) : failed(rested, result, rules),
    attempt: known === undefined ? 'new' : 'corrected',
  };
}

/** Whether the receiver is gone for good. */
export function saysGone({ attempt: { outcome, httpStatus } }: AttemptResult): boolean {
  return outcome === 'STATUS_REFUSED' && httpStatus === GONE;
}

/** When the next attempt is due: as late as the receiver asked, within bounds. */
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

/** Without further attempts; one in progress may still succeed. */
export function givenUp(delivery: DeliveryProgress, now: number): DeliveryProgress {
  return delivery.status === 'PENDING' ? exhausted(delivery, now) : delivery;
}

function atRest(delivery: DeliveryProgress): DeliveryProgress {
  return { ...delivery, attemptStartedAt: null, leaseUntil: null };
}

/** Received, in any state. */
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
    ? { ...delivery, nextAttemptAt: retryAt(result, rules), graceMs: rules.graceMs }
    : exhausted(delivery, rules.now);
}

function exhausted(delivery: DeliveryProgress, now: number): DeliveryProgress {
  return { ...delivery, status: 'EXHAUSTED', nextAttemptAt: null, endedAt: now };
}
