import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { DeliveryId, SubscriptionId } from '../../../../../generated/ids.js';
import { newPublicId } from '../../../../../src/identifiers/public-id.js';
import { claiming } from '../../../../../src/store/adapters/webhooks/sending/claims.js';
import { retryBatchRows } from '../../../../../src/store/adapters/webhooks/sending/retry-batches.js';
import type { Writer } from '../../../../../src/store/database.js';
import { databaseUnderTest } from '../../../../support/databases.js';
import type { Row } from '../../../rows.js';
import { sendingRig } from './rig.js';

const BACKLOG = 4_000;
const ROWS_PER_INSERT = 1_000;

async function rowsRead(writer: Writer): Promise<number> {
  const { rows } = await sql<{ count: unknown }>`
    select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as count
    from pg_stat_xact_user_tables where relname = 'deliveries'
  `.execute(writer);
  return Number(rows[0]?.count);
}

// SQLite goes by its indexes alone.
describe('on PostgreSQL, in a backlog that its statistics know nothing of', () => {
  const under = databaseUnderTest('PostgreSQL');

  /** Statistics of a time when everything was delivered, and what has piled up since. */
  async function piledUp() {
    const rig = await sendingRig(under);
    const subscriptions = [await rig.subscribe(), await rig.subscribe(), await rig.subscribe()];
    await rig.happen();
    const [first] = await rig.deliveries();
    const insert = (count: number, row: Row<'deliveries'>) =>
      rig.database.write(async (writer) => {
        for (let from = 0; from < count; from += ROWS_PER_INSERT) {
          const { seq, ...like } = first as NonNullable<typeof first>;
          const rows = Array.from({ length: ROWS_PER_INSERT }, (_, index) => ({
            ...like,
            id: newPublicId('DeliveryId'),
            subscription_id: subscriptions[index % subscriptions.length] as SubscriptionId,
            ...row,
          }));
          await writer.insertInto('deliveries').values(rows).execute();
        }
      });
    await insert(2_000, { status: 'DELIVERED', attempts_begun: 1, ended_at: 5 });
    await sql`analyze deliveries`.execute(rig.database.reader);
    await insert(BACKLOG, {});
    return { ...rig, subscriptions };
  }

  test('a claim reads what it takes, and not the backlog', async () => {
    const { database, subscriptions, clock } = await piledUp();
    await database.write(async (writer) => {
      const changes = claiming(writer, clock.now());
      const before = await rowsRead(writer);
      const found = await changes.dueSubscriptions('', 256);
      expect(found).toEqual([...subscriptions].sort().map((id) => ({ id, hasLater: false })));
      const id = subscriptions[0] as SubscriptionId;
      const due = (await changes.dueFirst([{ id, after: 0, limit: 64 }])).get(id) ?? [];
      expect(await changes.begin(due, [], clock.now() + 1)).toHaveLength(64);
      expect((await rowsRead(writer)) - before).toBeLessThan(BACKLOG / 10);
    });
  });

  test.each([
    ['of later attempts', 1, false],
    ['of later attempts that are not due', 2, false],
    ['of later attempts with fresh statistics', 1, true],
  ])('a claim %s reads what it takes, and making one due its own delivery', async (_, dueIn, isFresh) => {
    const { database, subscriptions, clock } = await piledUp();
    const dueAt = clock.now() + dueIn;
    await database.write(async (writer) => {
      const waiting = { attempts_begun: 1, next_attempt_at: dueAt - 1, grace_ms: 1 };
      await writer.updateTable('deliveries').set(waiting).where('status', '=', 'PENDING').execute();
    });
    if (isFresh) {
      await sql`analyze deliveries`.execute(database.reader);
    }
    const { id } = await database.reader
      .selectFrom('deliveries')
      .where('status', '=', 'PENDING')
      .select('id')
      .executeTakeFirstOrThrow();
    const begun = dueIn === 1 ? 64 : 0;
    await database.write(async (writer) => {
      const changes = claiming(writer, clock.now() + 1);
      const before = await rowsRead(writer);
      expect(await changes.dueSubscriptions('', 256)).toHaveLength(dueIn === 1 ? 3 : 0);
      const due = await changes.dueLater(subscriptions[0] as SubscriptionId, 64);
      expect(await changes.begin([], due, clock.now() + 1)).toHaveLength(begun);
      const claimed = await rowsRead(writer);
      expect(claimed - before).toBeLessThan(BACKLOG / 10);
      await retryBatchRows(writer, clock.now()).makeDue([id as DeliveryId], 2, 'now');
      expect((await rowsRead(writer)) - claimed).toBeLessThan(5);
    });
  });
});
