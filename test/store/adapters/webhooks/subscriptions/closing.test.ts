import { expect, test } from '@jest/globals';
import type { DeliveryId, SubscriptionId } from '../../../../../generated/ids.js';
import { MOST_CLOSED_AT_ONCE } from '../../../../../src/domain/webhooks/subscriptions/rows.js';
import {
  closeAll,
  closeRest,
  deleteSubscription,
  disableSubscription,
  enableSubscription,
} from '../../../../../src/domain/webhooks/subscriptions/status.js';
import { operatorUnitOfWork } from '../../../../../src/store/adapters/operator/unit-of-work.js';
import type { Database } from '../../../../../src/store/database.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import type { Row } from '../../../rows.js';
import { refused, sendingNode, succeeded } from '../sending/rig.js';
import { auditedIn, subscriptionRig } from './rig.js';

const PATIENT = new AbortController().signal;
/** Two whole pieces, and a part of one. */
const MANY = 2 * MOST_CLOSED_AT_ONCE + 200;

type Status = 'PENDING' | 'HELD' | 'CANCELLED' | 'DELIVERED';

describeEachDatabase('a subscription with more open than one write may change', (under) => {
  async function withMany(row: Row<'deliveries'> = {}) {
    const rig = await subscriptionRig(under);
    const { subscription } = await rig.create();
    rig.clock.advance(5);
    await plantMany(rig.database, subscription.id, MANY, row);
    const chosen = { subscriptionId: subscription.id };
    const count = (status: Status) => countOf(rig.database, subscription.id, status);
    return { ...rig, subscription, chosen, count };
  }

  test('is disabled in one short write, and the rest is held after it', async () => {
    const { run, chosen, count, unitOfWork, subscription, database } = await withMany({
      attempts_begun: 1,
      next_attempt_at: 17,
    });
    const { held } = await run((changes) => disableSubscription(changes, chosen));
    expect(held).toBe(MOST_CLOSED_AT_ONCE);
    await expect(unitOfWork.rows.subscriptions.find(subscription.id)).resolves.toMatchObject({
      status: 'DISABLED',
    });
    expect(await count('PENDING')).toBe(MANY - MOST_CLOSED_AT_ONCE);
    const sizes = changesOf(unitOfWork);
    await expect(closeAll(sizes, PATIENT)).resolves.toBe(MANY - MOST_CLOSED_AT_ONCE);
    expect(sizes.counts).toEqual([MOST_CLOSED_AT_ONCE, 200]);
    expect([await count('PENDING'), await count('HELD')]).toEqual([0, MANY]);
    const due = database.reader.selectFrom('deliveries').where('next_attempt_at', 'is not', null);
    await expect(due.selectAll().execute()).resolves.toEqual([]);
    expect((await auditedIn(database)).map(({ type }) => type)).toEqual([
      'subscription.created',
      'subscription.disabled',
    ]);
  });

  test.each([
    ['disabled', disableSubscription, 'HELD'],
    ['deleted', deleteSubscription, 'CANCELLED'],
  ] as const)('that is %s ends right wherever its domain was killed', async (_, change, status) => {
    const { run, chosen, count, database } = await withMany();
    await run<unknown>((changes) => change(changes, chosen));
    for (let pieces = 1; ; pieces += 1) {
      const killed = new AbortController();
      const unitOfWork = operatorUnitOfWork(database);
      const counted = changesOf(unitOfWork, () => killed.abort());
      await closeAll(counted, killed.signal);
      if (counted.counts.length === 0) {
        expect(pieces).toBeGreaterThan(2);
        break;
      }
      expect(counted.counts).toHaveLength(1);
    }
    expect([await count('PENDING'), await count(status)]).toEqual([0, MANY]);
  });

  test('is deleted with what is pending and what is held, and the time of its end', async () => {
    const { run, chosen, count, unitOfWork, database, subscription, clock } = await withMany();
    await plantMany(database, subscription.id, MANY, { status: 'HELD' });
    await run((changes) => deleteSubscription(changes, chosen));
    clock.advance(5);
    await closeAll(unitOfWork, PATIENT);
    expect([await count('PENDING'), await count('HELD'), await count('CANCELLED')]).toEqual([0, 0, 2 * MANY]);
    const endless = database.reader.selectFrom('deliveries').where('ended_at', 'is', null);
    await expect(endless.selectAll().execute()).resolves.toEqual([]);
  });

  test('is enabled with nothing of what it missed left to be sent', async () => {
    const { run, chosen, count } = await withMany();
    await run((changes) => disableSubscription(changes, chosen));
    await run((changes) => enableSubscription(changes, chosen));
    expect([await count('PENDING'), await count('HELD')]).toEqual([0, MANY]);
  });

  test('that is active again keeps what is pending since', async () => {
    const { run, chosen, count, unitOfWork, database, subscription } = await withMany();
    await run((changes) => disableSubscription(changes, chosen));
    const [seen] = await unitOfWork.rows.deliveries.leftOpen(10);
    expect(seen).toEqual({ id: subscription.id, isDeleted: false });
    await run((changes) => enableSubscription(changes, chosen));
    await plantMany(database, subscription.id, 3, {});
    await expect(closeRest(unitOfWork, { id: subscription.id, isDeleted: false })).resolves.toBe(0);
    await expect(unitOfWork.rows.deliveries.leftOpen(10)).resolves.toEqual([]);
    expect([await count('PENDING'), await count('HELD')]).toEqual([3, MANY]);
  });

  test('takes the others no part: what is active, or holds only what it should, is not looked at', async () => {
    const { create, database, unitOfWork, run, count } = await withMany();
    const { subscription: resting } = await create();
    await run((changes) => disableSubscription(changes, { subscriptionId: resting.id }));
    await plantMany(database, resting.id, 2, { status: 'HELD' });
    await expect(closeAll(unitOfWork, PATIENT)).resolves.toBe(0);
    expect(await count('PENDING')).toBe(MANY);
  });

  test('that says it is gone is disabled in a short write too, and results of what runs still count', async () => {
    const { database, connection, subscription, count, unitOfWork } = await withMany();
    const node = sendingNode(database, connection as never);
    // Begun after the subscription was last changed.
    const attempt_started_at = Date.now() + 60_000;
    const running = { attempts_begun: 1, attempt_started_at, lease_until: node.clock.now() + 30_000 };
    const under = await plantMany(database, subscription.id, 2, running);
    const [gone, late] = under as [DeliveryId, DeliveryId];
    node.clock.advance(1);
    await node.record(refused(gone, 1, 410));
    expect(await count('PENDING')).toBeGreaterThan(MANY - MOST_CLOSED_AT_ONCE - 2);
    await Promise.all([closeAll(unitOfWork, PATIENT), node.record(succeeded(late))]);
    expect([await count('PENDING'), await count('HELD'), await count('DELIVERED')]).toEqual([0, MANY + 1, 1]);
    expect(await node.delivery(gone)).toMatchObject({ status: 'HELD', lease_until: null });
  });
});

/** Tells how many rows each write changed. */
function changesOf(
  { run, ...rest }: ReturnType<typeof operatorUnitOfWork>,
  onWrite: () => void = () => undefined,
): Parameters<typeof closeAll>[0] & { counts: number[] } {
  const counts: number[] = [];
  return {
    counts,
    ...rest,
    run: async (work) => {
      const count = await run(work);
      counts.push(count as number);
      onWrite();
      return count;
    },
  };
}

let planted = 0;

async function plantMany(
  database: Database,
  subscriptionId: SubscriptionId,
  count: number,
  row: Row<'deliveries'>,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => `whd_${String(++planted).padStart(22, '0')}`);
  const delivery = {
    ...{ subscription_id: subscriptionId as string, event_seq: 1, event_id: 'evt_1' },
    event_type: 'user.updated',
    ...{ origin: 'EVENT' as const, status: 'PENDING' as const, attempts_begun: 0, attempt_started_at: null },
    ...{ lease_until: null, next_attempt_at: null, retry_batch_id: null, created_at: 1, ended_at: null },
    ...row,
  };
  await database.write(async (writer) => {
    for (let from = 0; from < count; from += 500) {
      const rows = ids.slice(from, from + 500).map((id) => ({ ...delivery, id }));
      await writer.insertInto('deliveries').values(rows).execute();
    }
  });
  return ids;
}

async function countOf({ reader }: Database, subscriptionId: string, status: Status): Promise<number> {
  const { count } = await reader
    .selectFrom('deliveries')
    .where('subscription_id', '=', subscriptionId)
    .where('status', '=', status)
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
