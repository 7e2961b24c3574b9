import type { DeliveryId, SubscriptionId } from '../../../../generated/ids.js';
import { auditChange } from '../../unit-of-work.js';
import type { DeliveryStatus } from '../deliveries.js';
import { type AttemptResult, healthAfter, keptOf, type Settlement, settle } from './results.js';
import { joinRetryBatches } from './retry-batches.js';
import type {
  DeliveryProgress,
  ReceiverHealth,
  RecordedAttempt,
  SendingChanges,
  SendingDependencies,
} from './sending.js';

/** A result, with its delivery before it and its consequences. */
interface Recorded extends Settlement {
  result: AttemptResult;
  before: DeliveryProgress;
}

const DISABLED_BY = { type: 'service', id: 'webhooks' };

/**
 * Records results with all consequences. Idempotent. `onDone` is called for each of its transactions, when
 * the next write would see it.
 */
export async function recordResults(
  dependencies: SendingDependencies,
  results: readonly AttemptResult[],
  onDone?: () => void,
): Promise<void> {
  for (const round of roundsOf(results)) {
    await recordTogether(dependencies, () => round, onDone);
  }
}

/** Each delivery at most once. `find` may lock them. */
export async function recordTogether(
  dependencies: SendingDependencies,
  find: (changes: SendingChanges) => readonly AttemptResult[] | Promise<readonly AttemptResult[]>,
  onDone?: () => void,
): Promise<void> {
  const ended = await dependencies.unitOfWork.run(
    async (changes) => recordIn(changes, dependencies, await find(changes)),
    onDone && { onDone },
  );
  for (const [status, count] of ended) {
    dependencies.onEnded?.(status, count);
  }
}

/** Each delivery once per round: the meaning of a second result depends on the first. */
function roundsOf(results: readonly AttemptResult[]): AttemptResult[][] {
  const rounds: AttemptResult[][] = [];
  const times = new Map<DeliveryId, number>();
  for (const result of results) {
    const time = times.get(result.deliveryId) ?? 0;
    times.set(result.deliveryId, time + 1);
    const round = rounds[time] ?? [];
    rounds[time] = round;
    round.push(result);
  }
  return rounds;
}

/** Returns how many deliveries ended with which status. Does not count a late success of an exhausted one. */
async function recordIn(
  changes: SendingChanges,
  dependencies: SendingDependencies,
  results: readonly AttemptResult[],
): Promise<ReadonlyMap<DeliveryStatus, number>> {
  const looked = await changes.look(results.map(({ deliveryId }) => deliveryId));
  const subscriptionIds = [...new Set(looked.map(({ subscriptionId }) => subscriptionId))];
  const { failingLimitMs } = dependencies.settings;
  const newsOf = (
    healths: readonly ReceiverHealth[],
    recorded: readonly Pick<Recorded, 'result' | 'before'>[],
  ) => healths.map((health) => newsFor(health, recorded, changes.now, failingLimitMs));
  const seen = await changes.healthOf(subscriptionIds);
  const reported = paired(results, looked);
  // A success may turn out to be known, as in a repeated report: it then hides no failure before it.
  const failures = reported.filter(({ result }) => result.attempt.outcome !== 'SUCCEEDED');
  const expected = [...newsOf(seen, reported), ...newsOf(seen, failures)];
  const alone = expected.some(({ changed, disable }) => changed || disable !== undefined);
  await changes.waitBriefly();
  const [held, healths] = await Promise.all([
    changes.hold(looked, alone),
    // May have changed during the wait for the locks: a success or a new address must not be overwritten.
    alone ? changes.healthOf(subscriptionIds) : seen,
  ]);
  const recorded = await settleAll(changes, dependencies, results, held);
  const disabled = await tellReceivers(changes, newsOf(healths, recorded.filter(isNews)));
  const deliveries = await joinRetryBatches(
    changes,
    recorded.map(({ delivery }) => heldIn(disabled, delivery)),
    dependencies.settings,
  );
  const settled = recorded.map((one, index) => ({ ...one, delivery: deliveries[index] as DeliveryProgress }));
  await write(changes, dependencies, settled);
  return endedIn(settled);
}

function endedIn(recorded: readonly Recorded[]): Map<DeliveryStatus, number> {
  const counts = new Map<DeliveryStatus, number>();
  for (const { before, delivery } of recorded) {
    const { status, endedAt } = delivery;
    // The end of a cancelled one is counted nowhere else.
    if (endedAt !== null && status !== before.status && before.status !== 'EXHAUSTED') {
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  }
  return counts;
}

function paired(results: readonly AttemptResult[], deliveries: readonly DeliveryProgress[]) {
  const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  return results.flatMap((result) => {
    const before = byId.get(result.deliveryId);
    return before ? [{ result, before }] : [];
  });
}

async function settleAll(
  changes: SendingChanges,
  { settings, grace, random }: SendingDependencies,
  results: readonly AttemptResult[],
  deliveries: readonly DeliveryProgress[],
): Promise<Recorded[]> {
  const { now } = changes;
  const rules = { now, retryDelaysMs: settings.retryDelaysMs, graceMs: grace.at(now), random };
  // In parallel: each may wait for the database, and there can be hundreds after a lost answer.
  return Promise.all(
    paired(results, deliveries).map(async ({ result, before }) => {
      const { number } = result.attempt;
      const runs = before.leaseUntil !== null && number === before.attemptsBegun;
      const known = runs ? undefined : await changes.outcomeOf(before.seq, number);
      return { result, before, ...settle(before, known, result, rules) };
    }),
  );
}

function isNews({ attempt }: Recorded): boolean {
  return attempt !== 'known';
}

function newsFor(
  health: ReceiverHealth,
  recorded: readonly Pick<Recorded, 'result' | 'before'>[],
  now: number,
  failingLimitMs: number,
) {
  const endings = recorded
    .filter(({ before }) => before.subscriptionId === health.id)
    .map(({ result, before }) => ({
      result,
      begunAt: startOf(result, before, now),
    }));
  return healthAfter(health, endings, now, failingLimitMs);
}

/** Returns the disabled subscriptions. */
async function tellReceivers(
  changes: SendingChanges,
  news: readonly ReturnType<typeof healthAfter>[],
): Promise<Set<SubscriptionId>> {
  const disabled = new Set<SubscriptionId>();
  for (const { health, changed, disable } of news) {
    if (changed) {
      await changes.noteHealth(health);
    }
    if (disable && (await changes.disable(health.id, disable))) {
      disabled.add(health.id);
      const author = { audit: changes.audit, actor: DISABLED_BY };
      await auditChange(author, 'subscription.disabled', health.id, { reason: disable });
    }
  }
  return disabled;
}

function heldIn(disabled: ReadonlySet<SubscriptionId>, delivery: DeliveryProgress): DeliveryProgress {
  return delivery.status === 'PENDING' && disabled.has(delivery.subscriptionId)
    ? { ...delivery, status: 'HELD', nextAttemptAt: null }
    : delivery;
}

async function write(
  changes: SendingChanges,
  dependencies: SendingDependencies,
  recorded: readonly Recorded[],
): Promise<void> {
  const rowOf = (one: Recorded) => attemptOf(one, changes.now, dependencies);
  const news = recorded.filter(isNews);
  await changes.deliver(news.filter(isPlainSuccess).map(({ before }) => before.seq));
  for (const one of news) {
    if (!isPlainSuccess(one)) {
      await changes.settle(one.delivery);
    }
    if (one.attempt === 'corrected') {
      await changes.correctAttempt(rowOf(one));
    }
  }
  const firsts = news.filter(({ attempt }) => attempt === 'new');
  await changes.recordAttempts(firsts.map(rowOf));
}

/** The common case: the running attempt succeeded, and nothing else happened. */
function isPlainSuccess({ result, before }: Recorded): boolean {
  return (
    result.attempt.outcome === 'SUCCEEDED' &&
    before.status === 'PENDING' &&
    before.leaseUntil !== null &&
    before.attemptsBegun === result.attempt.number
  );
}

function attemptOf(
  { result, before }: Recorded,
  now: number,
  dependencies: SendingDependencies,
): RecordedAttempt {
  return {
    ...result.attempt,
    responseStart: keptOf(result.attempt, before, dependencies),
    deliverySeq: before.seq,
    // Nothing begins after its end, also where the clock was set back.
    startedAt: Math.min(startOf(result, before, now), now),
    endedAt: now,
  };
}

/** By our clock: when it was claimed, which is known for a running attempt. */
function startOf(
  { attempt: { number, durationMs } }: AttemptResult,
  { attemptStartedAt, attemptsBegun }: DeliveryProgress,
  now: number,
): number {
  return (number === attemptsBegun ? attemptStartedAt : null) ?? now - (durationMs ?? 0);
}
