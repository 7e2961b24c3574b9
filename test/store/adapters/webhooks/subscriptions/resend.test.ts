import { expect, test } from '@jest/globals';
import type { DeliveryStatus } from '../../../../../src/domain/webhooks/deliveries.js';
import { resendDelivery } from '../../../../../src/domain/webhooks/subscriptions/resend.js';
import { disableSubscription } from '../../../../../src/domain/webhooks/subscriptions/status.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { refusal } from '../../operator/rig.js';
import { logRig } from '../logs/rig.js';
import { deliveriesIn } from './rig.js';

describeEachDatabase('a resend', (under) => {
  test.each<DeliveryStatus>(['PENDING', 'DELIVERED', 'EXHAUSTED', 'HELD', 'CANCELLED'])(
    'of a delivery that is %s makes a new one of the same event, with new attempts',
    async (status) => {
      const { run, deliver, database, clock, subscription, woken, audited } = await logRig(under);
      const id = await deliver({ status, attempts_begun: 3 });
      clock.advance(5_000);
      const resent = await run((changes) => resendDelivery(changes, id, 0));
      const rows = await deliveriesIn(database);
      const [earlier, later] = [rows.get(id), rows.get(resent.id)];
      expect(later).toMatchObject({
        ...{ seq: Number(earlier?.seq) + 1, event_seq: earlier?.event_seq },
        ...{ id: resent.id, subscription_id: subscription.id, event_id: earlier?.event_id },
        ...{ event_type: 'user.updated', origin: 'RESEND', status: 'PENDING', attempts_begun: 0 },
        ...{ attempt_started_at: null, lease_until: null, next_attempt_at: null, retry_batch_id: null },
        ...{ created_at: clock.now(), ended_at: null },
      });
      expect(earlier).toMatchObject(
        status === 'HELD' ? { status: 'CANCELLED', ended_at: clock.now() } : { status, ended_at: null },
      );
      expect(woken).toEqual([clock.now()]);
      expect((await audited()).at(-1)).toEqual({
        ...{ type: 'delivery.resent', subject_id: id, delivery_id: resent.id },
        ...{ subscription_id: subscription.id, event_id: resent.eventId },
      });
    },
  );

  test('replaces the held delivery of this event to this subscription, and no other', async () => {
    const { run, deliver, database, create, event } = await logRig(under);
    const other = (await create()).subscription;
    const event_id = await event();
    const first = await deliver({ event_id, status: 'DELIVERED' });
    const held = await deliver({ event_id, status: 'HELD' });
    const heldForOther = await deliver({ event_id, status: 'HELD' }, other);
    const heldOfOther = await deliver({ status: 'HELD' });
    await run((changes) => resendDelivery(changes, first, 0));
    const rows = await deliveriesIn(database);
    expect([first, held, heldForOther, heldOfOther].map((id) => rows.get(id)?.status)).toEqual([
      'DELIVERED',
      'CANCELLED',
      'HELD',
      'HELD',
    ]);
  });

  test('is refused where nothing may be sent, and then leaves nothing behind', async () => {
    const rig = await logRig(under);
    const { run, deliver, database, subscription, connection, clock, woken } = rig;
    const id = await deliver({ status: 'HELD' });
    const resend = () => refusal(run((changes) => resendDelivery(changes, id, 0)));
    const unknown = refusal(run((changes) => resendDelivery(changes, 'whd_nothing', 0)));
    await expect(unknown).resolves.toMatchObject({ code: 'DELIVERY_NOT_FOUND' });
    const configure = (configured_at: number | null) =>
      database.write((writer) =>
        writer
          .updateTable('instance_integrations')
          .set({ configured_at })
          .where('id', '=', connection.id)
          .execute(),
      );
    await configure(null);
    await expect(resend()).resolves.toMatchObject({ code: 'INSTANCE_INTEGRATION_NOT_CONFIGURED' });
    await configure(1);
    await run((changes) => disableSubscription(changes, { subscriptionId: subscription.id }));
    await expect(resend()).resolves.toMatchObject({ code: 'SUBSCRIPTION_DISABLED' });
    await run(({ subscriptions }) => subscriptions.delete(subscription.id, clock.now()));
    await expect(resend()).resolves.toMatchObject({ code: 'SUBSCRIPTION_NOT_FOUND' });
    expect([...(await deliveriesIn(database)).values()]).toMatchObject([{ id, status: 'HELD' }]);
    expect(woken).toEqual([]);
  });

  test('of an event from before the retention, which a younger delivery keeps, is refused', async () => {
    const { run, deliver, database, event, clock } = await logRig(under);
    const event_id = await event();
    const happenedAt = clock.now();
    clock.advance(1);
    const id = await deliver({ event_id, status: 'DELIVERED' });
    const resend = (keptSince: number) => run((changes) => resendDelivery(changes, id, keptSince));
    const code = 'TRANSITION_REFUSED';
    await expect(refusal(resend(happenedAt + 1))).resolves.toMatchObject({ code });
    expect([...(await deliveriesIn(database)).keys()]).toEqual([id]);
    await expect(resend(happenedAt)).resolves.toMatchObject({ eventId: event_id });
  });

  test('of an event that has just been purged is refused', async () => {
    const { run, deliver, database } = await logRig(under);
    const id = await deliver();
    await database.write((writer) => writer.deleteFrom('events').execute());
    const code = 'DELIVERY_NOT_FOUND';
    await expect(refusal(run((changes) => resendDelivery(changes, id, 0)))).resolves.toMatchObject({ code });
  });
});
