import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { SubscriptionId } from '../../../../../generated/ids.js';
import type { AttemptResult } from '../../../../../src/domain/webhooks/sending/results.js';
import type { Database } from '../../../../../src/store/database.js';
import { databaseUnderTest } from '../../../../support/databases.js';
import { eventually } from '../../../../support/eventually.js';
import { newConnection } from '../subscriptions/rig.js';
import { refused, sendingNode, sendingRig } from './rig.js';

const DAY_MS = 86_400_000;

async function somebodyWaits({ reader }: Database): Promise<boolean> {
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
      await eventually('the recording waits', () => somebodyWaits(database));
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

  test('waits in a circle with events on several instances, and both are written all the same', async () => {
    const database = await under.openMigrated();
    const one = sendingNode(database, await newConnection(database));
    const other = sendingNode(database, await newConnection(database), one.clock);
    const [first, last] = (await one.subscribe()) < (await other.subscribe()) ? [one, other] : [other, one];
    await one.happen();
    await other.happen();
    const ids = (await one.claim()).deliveries.map(({ id }) => id);
    let recording: ReturnType<typeof one.record> | undefined;
    await one.platform.run(async (changes) => {
      await changes.recordEvent(last.event());
      // It may be this write that is made again.
      if (!recording) {
        // The receivers are gone: this disables their subscriptions.
        recording = one.record(...ids.map((id) => refused(id, 1, 410)));
        recording.catch(() => undefined);
        await eventually('the recording waits', () => somebodyWaits(database));
      }
      await changes.recordEvent(first.event());
    });
    expect(await recording).toMatchObject([{ attemptsBegun: 1 }, { attemptsBegun: 1 }]);
    const deliveries = await one.deliveries();
    expect(deliveries.map(({ attempts_begun }) => attempts_begun).sort()).toEqual([0, 0, 1, 1]);
    expect(deliveries.filter(({ lease_until }) => lease_until !== null)).toEqual([]);
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

  test('disables its subscription after the events that are recorded for it, and holds their deliveries', async () => {
    const rig = await sendingRig(under);
    const id = await rig.subscribe();
    await rig.happen();
    const deliveryId = await rig.claimOne();
    let recording: ReturnType<typeof rig.record> | undefined;
    await rig.platform.run(async (changes) => {
      await changes.recordEvent(rig.event());
      recording = rig.record(refused(deliveryId, 1, 410));
      recording.catch(() => undefined);
      await eventually('the recording waits', () => somebodyWaits(rig.database));
    });
    await recording;
    expect(await rig.subscription(id)).toMatchObject({ status: 'DISABLED', disabled_reason: 'GONE' });
    expect((await rig.deliveries()).map(({ status }) => status)).toEqual(['HELD', 'HELD']);
  });
});
