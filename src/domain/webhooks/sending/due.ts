import type { DeliveryId } from '../../../../generated/ids.js';
import type { RetriedDelivery, SendingDependencies } from './sending.js';

export interface LaterAttempt {
  id: DeliveryId;
  number: number;
}

const LATER_NUMBERS = [2, 3];

/**
 * Makes second and third attempts due now, for the next claim. Returns the progress of each delivery that is
 * not purged. Idempotent.
 */
export async function makeDeliveriesDue(
  { unitOfWork, deliveriesDue, clock }: SendingDependencies,
  attempts: readonly LaterAttempt[],
): Promise<RetriedDelivery[]> {
  const ids = attempts.map(({ id }) => id);
  const seen = await unitOfWork.rows.retried(ids);
  const numbers = new Map(attempts.map(({ id, number }) => [id, number]));
  const now = clock();
  const early = seen.filter(
    ({ id, attemptsBegun, nextAttemptAt, graceMs }) =>
      attemptsBegun + 1 === numbers.get(id) && nextAttemptAt !== null && nextAttemptAt + graceMs > now,
  );
  if (early.length === 0) {
    return seen;
  }
  await unitOfWork.run(async (changes) => {
    await changes.hold(early, false);
    for (const number of LATER_NUMBERS) {
      const waiting = early.filter(({ attemptsBegun }) => attemptsBegun + 1 === number).map(({ id }) => id);
      await changes.retryBatches.makeDue(waiting, number);
    }
  });
  deliveriesDue.wake();
  return unitOfWork.rows.retried(ids);
}
