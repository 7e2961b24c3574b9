import type { DeliveryId } from '../../../../generated/ids.js';
import { givenUp } from './results.js';
import type { RetriedDelivery, SendingDependencies } from './sending.js';

/** Ends deliveries without further attempts. Returns the progress of each, without purged ones. */
export async function giveUpDeliveries(
  { unitOfWork, onEnded }: SendingDependencies,
  ids: readonly DeliveryId[],
): Promise<RetriedDelivery[]> {
  const count = await unitOfWork.run(async (changes) => {
    let ended = 0;
    for (const delivery of await changes.hold(await changes.look(ids), false)) {
      const given = givenUp(delivery, changes.now);
      if (given !== delivery) {
        await changes.settle(given);
        ended += 1;
      }
    }
    return ended;
  });
  if (count > 0) {
    onEnded?.('EXHAUSTED', count);
  }
  return unitOfWork.rows.retried(ids);
}
