import type { Rate } from '../../access/rate-limiter.js';
import { type AttemptOutcome, type DeliveryAttempt, MAX_ATTEMPTS } from '../deliveries.js';
import type { DisabledReason } from '../subscriptions/subscription.js';
import type { DeliveryProgress, ReceiverHealth, SendingDependencies } from './sending.js';

/** The end of an attempt, as its sender reports it. */
export interface AttemptResult {
  deliveryId: DeliveryProgress['id'];
  /** It began with its claim, and ends at its recording. */
  attempt: Omit<DeliveryAttempt, 'startedAt' | 'endedAt'>;
  /** The wait that a busy receiver asked for. */
  retryAfterSeconds?: number;
}

interface RetryRules {
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
function saysGone({ attempt: { outcome, httpStatus } }: AttemptResult): boolean {
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

/** Written no more often while deliveries succeed. */
const NOTED_EVERY_MS = 60_000;
/** The clocks of nodes differ by less. */
const CLOCK_SKEW_MS = 1_000;

/** The end of an attempt, and when it was begun, which is when its address was read. */
interface Ending {
  result: AttemptResult;
  begunAt: number;
}

interface HealthNews {
  health: ReceiverHealth;
  /** Whether it is worth a write. */
  changed: boolean;
  /** Why the subscription must be disabled, if so. */
  disable: DisabledReason | undefined;
}

/** The receiver's health after these results, in order. */
export function healthAfter(
  before: ReceiverHealth,
  endings: readonly Ending[],
  now: number,
  failingLimitMs: number,
): HealthNews {
  const isFuture = (time: number | null) => time !== null && time > now + CLOCK_SKEW_MS;
  // If an operator's change is later than now, the clock was set back since, and the times give no order.
  const wasSetBack = isFuture(before.updatedAt);
  // An attempt that we lost ourselves says nothing about the receiver. A failure of one from before an
  // operator's change may concern another address.
  const telling = endings.filter(
    ({ result: { attempt }, begunAt }) =>
      attempt.outcome === 'SUCCEEDED' ||
      (attempt.outcome !== 'INTERRUPTED' && (wasSetBack || begunAt >= before.updatedAt)),
  );
  const failingSince = telling.reduce<number | null>(
    (since, { result }) => (result.attempt.outcome === 'SUCCEEDED' ? null : (since ?? now)),
    telling.length > 0 && isFuture(before.failingSince) ? now : before.failingSince,
  );
  const succeeded = telling.some(({ result }) => result.attempt.outcome === 'SUCCEEDED');
  const changesSides = (failingSince === null) !== (before.failingSince === null);
  const isNoteOld =
    before.lastSuccessAt === null ||
    now - before.lastSuccessAt >= NOTED_EVERY_MS ||
    isFuture(before.lastSuccessAt);
  const lastSuccessAt = succeeded && (isNoteOld || changesSides) ? now : before.lastSuccessAt;
  return {
    health: { ...before, failingSince, lastSuccessAt },
    changed: failingSince !== before.failingSince || lastSuccessAt !== before.lastSuccessAt,
    disable: disablingReason(telling, failingSince, now, failingLimitMs),
  };
}

function disablingReason(
  endings: readonly Ending[],
  failingSince: number | null,
  now: number,
  failingLimitMs: number,
): DisabledReason | undefined {
  if (endings.some(({ result }) => saysGone(result))) {
    return 'GONE';
  }
  // A quiet subscription may have failed once long ago and once now: only exhausted deliveries count.
  const isTriedToTheEnd = endings.some(({ result }) => isLastFailure(result));
  const failsForLong = failingSince !== null && now - failingSince >= failingLimitMs;
  return failsForLong && isTriedToTheEnd ? 'FAILING' : undefined;
}

function isLastFailure({ attempt }: AttemptResult): boolean {
  return attempt.number === MAX_ATTEMPTS && attempt.outcome !== 'SUCCEEDED';
}

/** Long answers kept of failed attempts of one subscription: enough to find the reason. */
export const LONG_ANSWERS: Rate = { limit: 20, windowMs: 3_600_000 };
const LONG_BYTES = 16_384;
const SHORT_BYTES = 1_024;

/** What is kept of an answer. Its receiver chooses it, and could fill the disk if all could be long. */
export function keptOf(
  { outcome, responseStart }: AttemptResult['attempt'],
  { subscriptionId }: Pick<DeliveryProgress, 'subscriptionId'>,
  { longAnswers }: Pick<SendingDependencies, 'longAnswers'>,
): Uint8Array | null {
  if (responseStart === null || responseStart.length <= SHORT_BYTES) {
    return responseStart;
  }
  const isLong = outcome !== 'SUCCEEDED' && longAnswers.take(subscriptionId).allowed;
  return responseStart.subarray(0, isLong ? LONG_BYTES : SHORT_BYTES);
}
