import { describe, expect, test } from '@jest/globals';
import type { DeliveryStatus } from '../../../../src/domain/webhooks/deliveries.js';
import { resendDelivery } from '../../../../src/domain/webhooks/subscriptions/resend.js';
import { purgeStore } from '../../../../src/store/adapters/purge.js';
import { OldRows } from '../../../../src/store/adapters/webhooks/purge.js';
import { databaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { signalled } from '../../../support/signalled.js';
import { logRig } from './logs/rig.js';

describeEachDatabase('the purge of webhooks', (under) => {
  async function purgeRig() {
    const rig = await logRig(under);
    const { remove } = purgeStore(rig.database);
    const before = rig.clock.now() + 1;
    const left = async () => ({
      deliveries: (await rig.database.reader.selectFrom('deliveries').select('id').execute()).length,
      attempts: (await rig.database.reader.selectFrom('delivery_attempts').select('number').execute()).length,
      events: (await rig.database.reader.selectFrom('events').select('id').execute()).length,
    });
    const purge = (kind: Parameters<typeof remove>[0], limit = 100) => remove(kind, before, limit);
    return { ...rig, before, left, purge };
  }

  test.each<[status: DeliveryStatus, goes: boolean]>([
    ['DELIVERED', true],
    ['EXHAUSTED', true],
    ['HELD', true],
    ['CANCELLED', true],
    ['PENDING', false],
  ])('of a delivery that is %s: %s, and its attempts and event with it', async (status, goes) => {
    const { deliver, attempt, purge, left } = await purgeRig();
    const id = await deliver({ status, attempts_begun: 3 });
    for (const number of [1, 2]) {
      await attempt(id, { number });
    }
    await expect(purge('event')).resolves.toBe(0);
    await expect(purge('delivery')).resolves.toBe(goes ? 1 : 0);
    await expect(purge('event')).resolves.toBe(goes ? 1 : 0);
    const counts = goes ? [0, 0, 0] : [1, 2, 1];
    await expect(left()).resolves.toEqual({ deliveries: counts[0], attempts: counts[1], events: counts[2] });
  });

  test('finds deliveries behind many that stay, and those once they have ended', async () => {
    const { deliver, purge, database, left } = await purgeRig();
    const pending: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      pending.push(await deliver());
      await deliver({ status: 'DELIVERED' });
    }
    await expect(purge('delivery', 3)).resolves.toBe(3);
    await expect(purge('delivery', 3)).resolves.toBe(2);
    await database.write((writer) => writer.updateTable('deliveries').set({ status: 'EXHAUSTED' }).execute());
    await expect(purge('delivery', 9)).resolves.toBe(5);
    await expect(left()).resolves.toMatchObject({ deliveries: 0 });
  });

  test('keeps an event while a younger delivery refers to it', async () => {
    const { event, deliver, purge, before, left } = await purgeRig();
    await deliver({ event_id: await event(), status: 'DELIVERED', created_at: before });
    await deliver({ event_id: await event(), status: 'DELIVERED' });
    await expect(purge('delivery')).resolves.toBe(1);
    await expect(purge('event')).resolves.toBe(1);
    await expect(left()).resolves.toMatchObject({ deliveries: 1, events: 1 });
  });

  test('keeps a batch while a delivery of it waits', async () => {
    const { deliver, purge, database, subscription } = await purgeRig();
    const batch = (id: string) => ({
      ...{ id, subscription_id: subscription.id, size: 1, handed_over_at: 2 },
      ...{ created_at: 1, closes_at: 1 },
    });
    await database.write((writer) =>
      writer
        .insertInto('retry_batches')
        .values([batch('bat_1'), batch('bat_2')])
        .execute(),
    );
    const id = await deliver({ retry_batch_id: 'bat_1', attempts_begun: 1 });
    await deliver({ retry_batch_id: 'bat_2', status: 'DELIVERED' });
    await expect(purge('retry_batch')).resolves.toBe(1);
    await database.write((writer) =>
      writer.updateTable('deliveries').set({ status: 'EXHAUSTED' }).where('id', '=', id).execute(),
    );
    await expect(purge('retry_batch')).resolves.toBe(1);
  });

  test('keeps a deleted subscription while a delivery names it, and any other for good', async () => {
    const { deliver, purge, run, create, clock, database } = await purgeRig();
    const deleted = (await create()).subscription;
    const id = await deliver({ status: 'CANCELLED' }, deleted);
    await run(({ subscriptions }) => subscriptions.delete(deleted.id, clock.now()));
    await expect(purge('subscription')).resolves.toBe(0);
    await database.write((writer) => writer.deleteFrom('deliveries').where('id', '=', id).execute());
    await expect(purge('subscription')).resolves.toBe(1);
    await expect(purge('subscription')).resolves.toBe(0);
  });
});

describe('on PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('a purge leaves an event that is just being sent again', async () => {
    const { run, database, deliver, clock } = await logRig(under);
    const id = await deliver({ status: 'DELIVERED' });
    const [resent, goOn] = [signalled(), signalled()];
    const resending = run(async (changes) => {
      const delivery = await resendDelivery(changes, id, 0);
      resent.tell();
      await goOn.told;
      return delivery;
    });
    await resent.told;
    const { remove } = purgeStore(database);
    const before = clock.now() + 1;
    await database.write((writer) => writer.deleteFrom('deliveries').where('id', '=', id).execute());
    await expect(remove('event', before, 9)).resolves.toBe(0);
    goOn.tell();
    await resending;
    await expect(remove('event', before, 9)).resolves.toBe(0);
    await expect(database.reader.selectFrom('events').select('id').execute()).resolves.toHaveLength(1);
  });
});

test('old rows that must stay do not hide removable rows behind them', async () => {
  const size = 250_000;
  const old = new OldRows(async (after, _, limit) =>
    Array.from({ length: Math.max(0, Math.min(limit, size - after.createdAt)) }, (_, index) => {
      const number = after.createdAt + index + 1;
      return { position: { createdAt: number, seq: number }, stays: number < size - 2 };
    }),
  );
  const looks = [await old.next(1, 2), await old.next(1, 2), await old.next(1, 2), await old.next(1, 2)];
  expect(looks).toEqual([[], [], [size - 2, size - 1], [size]]);
});

test('looks at the same time find different rows, also after one that failed', async () => {
  let isAway = true;
  const old = new OldRows(async (after, _, limit) => {
    await new Promise(setImmediate);
    if (isAway) {
      isAway = false;
      throw new Error('the database is away');
    }
    return Array.from({ length: limit }, (_, index) => {
      const number = after.createdAt + index + 1;
      return { position: { createdAt: number, seq: number }, stays: false };
    });
  });
  const looks = await Promise.allSettled([old.next(1, 2), old.next(1, 2), old.next(1, 2)]);
  expect(looks).toMatchObject([{ status: 'rejected' }, { value: [1, 2] }, { value: [3, 4] }]);
});
