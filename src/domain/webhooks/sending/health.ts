import { MAX_ATTEMPTS } from '../deliveries.js';
import type { DisabledReason } from '../subscriptions/subscription.js';
import { type AttemptResult, saysGone } from './results.js';
import type { ReceiverHealth } from './sending.js';

/** Written no more often while deliveries succeed. */
const NOTED_EVERY_MS = 60_000;

/** The end of an attempt, and when it was begun, which is when its address was read. */
export interface Ending {
  result: AttemptResult;
  begunAt: number;
}

export interface HealthNews {
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
  // An attempt that we lost ourselves says nothing about the receiver.
  const telling = endings.filter(({ result }) => result.attempt.outcome !== 'INTERRUPTED');
  const failingSince = telling.reduce<number | null>(
    (since, { result }) => (result.attempt.outcome === 'SUCCEEDED' ? null : (since ?? now)),
    before.failingSince,
  );
  const succeeded = telling.some(({ result }) => result.attempt.outcome === 'SUCCEEDED');
  const changesSides = (failingSince === null) !== (before.failingSince === null);
  const isNoteOld = before.lastSuccessAt === null || now - before.lastSuccessAt >= NOTED_EVERY_MS;
  const lastSuccessAt = succeeded && (isNoteOld || changesSides) ? now : before.lastSuccessAt;
  return {
    health: { ...before, failingSince, lastSuccessAt },
    changed: failingSince !== before.failingSince || lastSuccessAt !== before.lastSuccessAt,
    disable: disablingReason(before, telling, failingSince, now, failingLimitMs),
  };
}

function disablingReason(
  { updatedAt }: ReceiverHealth,
  endings: readonly Ending[],
  failingSince: number | null,
  now: number,
  failingLimitMs: number,
): DisabledReason | undefined {
  // A 410 from before an operator's change may be of another address.
  if (endings.some(({ result, begunAt }) => saysGone(result) && begunAt >= updatedAt)) {
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
