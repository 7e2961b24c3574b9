import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { DeliveryId, SubscriptionId } from '../../../../../generated/ids.js';
import { recordResults } from '../../../../../src/domain/webhooks/sending/records.js';
import type { AttemptResult } from '../../../../../src/domain/webhooks/sending/results.js';
import { closeAll } from '../../../../../src/domain/webhooks/subscriptions/status.js';
import { ErrorCode } from '../../../../../src/errors/service-error.js';
import { operatorUnitOfWork } from '../../../../../src/store/adapters/operator/unit-of-work.js';
import type { Database, Writer } from '../../../../../src/store/database.js';
import { databaseUnderTest } from '../../../../support/databases.js';
import { eventually } from '../../../../support/eventually.js';
import { auditedIn } from '../subscriptions/rig.js';
import { PATIENT, refused, sendingRig, succeeded } from './rig.js';

const DAY_MS = 86_400_000;

async function anyWriteWaits({ reader }: Database): Promise<boolean> {
  const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  return (await waiting.execute(reader)).rows.length > 0;
}

// On SQLite one write begins when the other has ended.
describe('on PostgreSQL, a failure that is recorded during another change of its subscription', () => {
  const under = databaseUnderTest('PostgreSQL');

  /** The failure, as it is recorded behind a change that it did not know of when it began. */
  async function recordedBehind(
    { database, record }: Awaited<ReturnType<typeof sendingRig>>,
    id: SubscriptionId,
    change: { failing_since?: number | null; url?: string; updated_at?: number },
    failure: AttemptResult,
  ) {
    const { recording } = await database.write(async (writer) => {
      await writer.updateTable('subscriptions').set(change).where('id', '=', id).execute();
      const outcome = record(failure);
      outcome.catch(() => undefined);
      await eventually('the recording waits', () => anyWriteWaits(database));
      // Wrapped, or the transaction would wait for what waits for it.
      return { recording: outcome };
    });
    return recording;
  }

  test('does not disable what has just received something after failing for long', async () => {
    const rig = await sendingRig(under);
    const id = await rig.subscribe({ failing_since: 1 });
    await rig.happen();
    const deliveryId = await rig.claimOne();
    for (const number of [1, 2]) {
      await rig.record(refused(deliveryId, number));
      await rig.begin(deliveryId, number + 1);
    }
    rig.clock.advance(6 * DAY_MS);
    const last = refused(deliveryId, 3);
    expect(await recordedBehind(rig, id, { failing_since: null }, last)).toMatchObject([
      { status: 'EXHAUSTED' },
    ]);
    expect(await rig.subscription(id)).toMatchObject({ status: 'ACTIVE', failing_since: rig.clock.now() });
  });

  test('does not take a new address for the old one, which is gone', async () => {
    const rig = await sendingRig(under);
    const id = await rig.subscribe();
    await rig.happen();
    const deliveryId = await rig.claimOne();
    rig.clock.advance(5);
    const change = { url: 'https://new.example.com/in', updated_at: rig.clock.now() };
    rig.clock.advance(5);
    expect(await recordedBehind(rig, id, change, refused(deliveryId, 1, 410))).toMatchObject([
      { status: 'PENDING' },
    ]);
    expect(await rig.subscription(id)).toMatchObject({ status: 'ACTIVE' });
  });

  test('is noted while events are recorded for it, which many callers may do without a pause', async () => {
    const rig = await sendingRig(under);
    const id = await rig.subscribe();
    await rig.happen();
    const deliveryId = await rig.claimOne();
    await rig.platform.run(async (changes) => {
      await changes.recordEvent(rig.event());
      await rig.record(refused(deliveryId, 1));
    });
    expect(await rig.subscription(id)).toMatchObject({ failing_since: rig.clock.now() });
    expect(await rig.deliveries()).toHaveLength(2);
  });

  test('is soon refused where another write has locked its row: other results wait with it', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    const id = await rig.claimOne();
    const locked = (writer: Writer) =>
      writer.selectFrom('deliveries').where('id', '=', id).select('id').forUpdate().execute();
    const { patient } = await rig.database.write(async (writer) => {
      await locked(writer);
      let isOver = false;
      const patientWrite = rig.database.write(locked).finally(() => {
        isOver = true;
      });
      await eventually('it waits', () => anyWriteWaits(rig.database));
      const recording = recordResults(rig.dependencies, [refused(id)]);
      await expect(recording).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
      expect(isOver).toBe(false);
      return { patient: patientWrite };
    });
    expect(await patient).toEqual([{ id }]);
    expect(await rig.attempts(id)).toEqual([]);
    expect(await rig.record(refused(id))).toMatchObject([{ status: 'PENDING', attemptsBegun: 1 }]);
  });

  test('disables its subscription beside a write that has its other deliveries, which are held later', async () => {
    const rig = await sendingRig(under);
    const subscription = await rig.subscribe();
    await rig.happen();
    await rig.happen();
    const claimed = (await rig.claim()).deliveries.map(({ id }) => id);
    const [other, gone] = claimed as [DeliveryId, DeliveryId];
    await rig.database.write(async (writer) => {
      await writer.selectFrom('deliveries').where('id', '=', other).select('id').forUpdate().execute();
      await recordResults(rig.dependencies, [refused(gone, 1, 410)]);
      expect(await rig.subscription(subscription)).toMatchObject({ status: 'DISABLED' });
    });
    expect(await closeAll(operatorUnitOfWork(rig.database), PATIENT)).toBe(1);
    expect((await rig.deliveries()).map(({ status }) => status)).toEqual(['HELD', 'HELD']);
    await rig.record(succeeded(other));
    expect(await rig.delivery(other)).toMatchObject({ status: 'DELIVERED' });
  });

  test('disables its subscription beside the events that are recorded for it, and holds up no other result', async () => {
    const rig = await sendingRig(under);
    const ids = [await rig.subscribe(), await rig.subscribe()];
    await rig.happen();
    const claimed = (await rig.claim()).deliveries.map(({ id }) => id);
    const [gone, other] = claimed as [DeliveryId, DeliveryId];
    const { subscription_id } = await rig.delivery(gone);
    const closing = operatorUnitOfWork(rig.database);
    await rig.platform.run(async (changes) => {
      await changes.recordEvent(rig.event());
      expect(await rig.record(refused(gone, 1, 410), succeeded(other))).toMatchObject([
        { status: 'HELD' },
        { status: 'DELIVERED' },
      ]);
      // Nor does it wait, in any domain, to hold what else is pending.
      await rig.database.write((writer) =>
        writer.updateTable('deliveries').set({ status: 'PENDING' }).where('id', '=', gone).execute(),
      );
      expect(await closeAll(closing, PATIENT)).toBe(1);
    });
    expect(await rig.subscription(subscription_id)).toMatchObject({
      status: 'DISABLED',
      disabled_reason: 'GONE',
    });
    // An event that began before is not sent, and held a moment later.
    const statusesOf = async (id: string) =>
      (await rig.deliveries()).filter((row) => row.subscription_id === id).map(({ status }) => status);
    expect(await statusesOf(subscription_id)).toEqual(['HELD', 'PENDING']);
    const due = (await rig.claim()).deliveries.map(({ id }) => id);
    expect(due).toHaveLength(1);
    expect(await closeAll(closing, PATIENT)).toBe(1);
    expect(await statusesOf(subscription_id)).toEqual(['HELD', 'HELD']);
    const active = ids.find((id) => id !== subscription_id) as SubscriptionId;
    expect(await statusesOf(active)).toEqual(['DELIVERED', 'PENDING']);
    expect(await auditedIn(rig.database)).toMatchObject([{ type: 'subscription.disabled', reason: 'GONE' }]);
  });
});
