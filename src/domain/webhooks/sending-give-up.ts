import type { DeliveryId } from '../../../generated/ids.js';
import { givenUp } from './attempt-results.js';
import type { DeliveryProgress, SendingDependencies } from './sending.js';

/** Ends deliveries without further attempts, those that have ended already apart. Answers how far each is, but for purged ones. */
export async function giveUpDeliveries(
  { unitOfWork }: Pick<SendingDependencies, 'unitOfWork'>,
  ids: readonly DeliveryId[],
): Promise<DeliveryProgress[]> {
  const after = await unitOfWork.run(async (changes) => {
    const held = await changes.hold(await changes.look(ids), false);
    const given = held.map((delivery) => givenUp(delivery, changes.now));
    for (const [index, delivery] of given.entries()) {
      if (delivery !== held[index]) {
        await changes.settle(delivery);
      }
    }
    return new Map(given.map((delivery) => [delivery.id, delivery]));
  });
  return ids.flatMap((id) => after.get(id) ?? []);
}
