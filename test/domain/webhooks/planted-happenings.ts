import type { EventId, InstanceIntegrationId, SubscriptionId } from '../../../generated/ids.js';
import { type Delivery, type DeliveryAttempt, UNTRIED } from '../../../src/domain/webhooks/deliveries.js';
import type { Happening, HappeningRows } from '../../../src/domain/webhooks/happenings.js';

export interface PlantedHappening extends Happening {
  /** From when on it is seen. */
  committedAt: number;
  delivery?: Partial<Delivery>;
}

/** The port over a list that may grow, as it is committed now. */
export function happeningRows(planted: readonly PlantedHappening[], now: () => number): HappeningRows {
  const keyOf = ({ at, deliveryId, attemptNumber }: Happening) =>
    `${String(at).padStart(16, '0')} ${deliveryId} ${attemptNumber ?? 0}`;
  const list =
    (isOfList: (one: Happening) => boolean): HappeningRows['madeIn'] =>
    async ({ from, to }, after, limit) =>
      planted
        .filter((one) => isOfList(one) && one.committedAt <= now() && one.at >= from && one.at <= to)
        .filter((one) => after === undefined || keyOf(one) > keyOf(after))
        .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
        .slice(0, limit);
  return {
    madeIn: list(({ attemptNumber }) => attemptNumber === null),
    endedIn: list(({ attemptNumber }) => attemptNumber !== null),
    findAll: async (ids) =>
      new Map(
        ids.flatMap((id) => {
          const found = planted.find(({ deliveryId }) => deliveryId === id);
          return found ? [[id, deliveryOf(found)]] : [];
        }),
      ),
    attemptsOfAll: async (ids) =>
      new Map(
        ids.map((id) => [id, planted.filter(({ deliveryId }) => deliveryId === id).flatMap(attemptOf)]),
      ),
  };
}

function deliveryOf({ at, deliveryId, delivery }: PlantedHappening): Delivery {
  return {
    id: deliveryId,
    subscriptionId: 'whs_1' as SubscriptionId,
    instanceIntegrationId: 'iin_1' as InstanceIntegrationId,
    eventId: 'evt_1' as EventId,
    eventType: 'user.updated',
    origin: 'EVENT',
    ...UNTRIED,
    createdAt: at,
    ...delivery,
  };
}

function attemptOf({ at, attemptNumber }: PlantedHappening): DeliveryAttempt[] {
  if (attemptNumber === null) {
    return [];
  }
  const answer = { durationMs: 3, httpStatus: 204, message: null, responseStart: null };
  return [{ number: attemptNumber, startedAt: at - 3, endedAt: at, outcome: 'SUCCEEDED', ...answer }];
}
