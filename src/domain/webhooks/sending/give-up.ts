import type { DeliveryId } from '../../../../generated/ids.js';
import { givenUp } from './results.js';
import type { RetriedDelivery, SendingDependencies } from './sending.js';

/** Ends deliveries without further attempts. Returns the progress of each, without purged ones. */
export async function giveUpDeliveries(
  { unitOfWork }: Pick<SendingDependencies, 'unitOfWork'>,
  ids: readonly DeliveryId[],
): Promise<RetriedDelivery[]> {
  await unitOfWork.run(async (changes) => {
    for (const delivery of await changes.hold(await changes.look(ids), false)) {
      const given = givenUp(delivery, changes.now);
      if (given !== delivery) {
        await changes.settle(given);
      }
    }
  });
  return unitOfWork.rows.retried(ids);
}
