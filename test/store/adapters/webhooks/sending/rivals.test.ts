import { expect, test } from '@jest/globals';
import type { DeliveryId, SubscriptionId } from '../../../../../generated/ids.js';
import { MOST_CLOSED_AT_ONCE } from '../../../../../src/domain/webhooks/subscriptions/rows.js';
import { subscriptionDeliveryRows } from '../../../../../src/store/adapters/webhooks/subscriptions/deliveries.js';
import { subscriptionRows } from '../../../../../src/store/adapters/webhooks/subscriptions/rows.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { refused, succeeded, twoSendingNodes } from './rig.js';

const EVENTS = 30;

describeEachDatabase(
  'recording, claiming, ending, giving up and disabling at once, on two nodes',
  (under) => {
    test('wait for each other in no circle, and leave nothing pending behind', async () => {
      const { one, other } = await twoSendingNodes(under);
      const subscriptions = await Promise.all(Array.from({ length: 6 }, () => one.subscribe()));

      /** Each node tells the ends of the same attempts, in opposite orders, and not always the same. */
      async function relay(): Promise<void> {
        for (let round = 0; round < 8; round += 1) {
          const ids = (await one.claim({ freeSlots: 40 })).deliveries.map(({ id }) => id);
          const end = (id: DeliveryId, index: number) => (index % 3 === 0 ? refused(id) : succeeded(id));
          await Promise.all([
            one.record(...ids.map(end)),
            other.record(...ids.map((id) => refused(id)).reverse()),
            other.giveUp(...ids.slice(0, 5).reverse()),
          ]);
        }
      }
      const disable = (id: string) =>
        one.database.write(async (writer) => {
          await subscriptionRows(writer).findLocked(id);
          await writer
            .updateTable('subscriptions')
            .set({ status: 'DISABLED', disabled_reason: 'OPERATOR', disabled_at: 5 })
            .where('id', '=', id)
            .execute();
          await subscriptionDeliveryRows(writer).holdPending(id as SubscriptionId, MOST_CLOSED_AT_ONCE);
        });
      const happenings = Array.from({ length: EVENTS }, (_, index) => (index % 2 ? one : other).happen());
      await Promise.all([...happenings, relay(), relay(), ...subscriptions.slice(0, 3).map(disable)]);
      await Promise.all(subscriptions.slice(3).map(disable));

      const deliveries = await one.deliveries();
      expect(deliveries).toHaveLength(EVENTS * subscriptions.length);
      expect(deliveries.filter(({ status }) => status === 'PENDING')).toEqual([]);
      for (const { id, status, attempts_begun, lease_until } of deliveries) {
        const attempts = await one.attempts(id);
        const success = attempts.some(({ outcome }) => outcome === 'SUCCEEDED');
        const ended = lease_until === null ? attempts_begun : attempts_begun - 1;
        expect({ id, status: status === 'DELIVERED', attempts: attempts.length }).toEqual({
          ...{ id, status: success, attempts: ended },
        });
      }
    });
  },
);
