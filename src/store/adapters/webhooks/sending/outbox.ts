import { sql } from 'kysely';
import type { Outbox, OutboxStage } from '../../../../domain/webhooks/sending/sending.js';
import { inPieces } from '../../../../fairness/pieces.js';
import type { Reader } from '../../../database.js';
import { plannedStatement } from '../../statements/kept-statement.js';
import { isPending, nextPending } from '../dialect-words.js';

/** Most index entries to count: SQLite takes two milliseconds for these and blocks other work meanwhile. */
const MOST_COUNTED = 10_000;
/** Subscriptions per statement, for the same reason. */
const LOOKED_AT_ONCE = 100;

interface OldestRow extends Record<'failing_since' | `begun_${0 | 1 | 2 | 3}`, number | null> {
  id: string;
  status: string | null;
  updated_at: number;
}

/** Reads only the index of open deliveries. */
const counts = plannedStatement(
  (db, { most }: { most: number }) => sql<{ begun: number; count: number }>`
    select attempts_begun as begun, count(*) as count
    from (select attempts_begun from deliveries where ${isPending(db)} limit ${most}) as pending
    group by attempts_begun
  `,
);

/** Like the search for due deliveries: walks the index by subscription, one row per number of attempts. */
const oldest = plannedStatement((db, { after, limit }: { after: string; limit: number }) => {
  const first = (begun: number) => sql`(
    select created_at from deliveries
    where ${isPending(db)} and subscription_id = pending.id and attempts_begun = ${sql.lit(begun)}
    order by subscription_id, attempts_begun, seq limit 1
  )`;
  return sql<OldestRow>`
    with recursive pending(id, place) as (
      select ${nextPending(db, after)}, 1
      union all
      select ${nextPending(db, sql.ref('pending.id'))}, place + 1 from pending
      where pending.id is not null and place < ${limit}
    )
    select pending.id, subscriptions.status, subscriptions.failing_since, subscriptions.updated_at,
      ${first(0)} as begun_0, ${first(1)} as begun_1, ${first(2)} as begun_2, ${first(3)} as begun_3
    from pending left join subscriptions on subscriptions.id = pending.id
    where pending.id is not null
    order by pending.id
  `;
});

export async function outboxOf(reader: Reader): Promise<Outbox> {
  const found: Outbox = { counts: { first: 0, later: 0 }, oldest: [] };
  for (const { begun, count } of (await counts(reader, { most: MOST_COUNTED })).rows) {
    found.counts[begun === 0 ? 'first' : 'later'] += Number(count);
  }
  const since = new Map<string, Outbox['oldest'][number]>();
  const subscriptions = inPieces(
    LOOKED_AT_ONCE,
    async (limit, last?: OldestRow) => (await oldest(reader, { after: last?.id ?? '', limit })).rows,
  );
  for await (const rows of subscriptions) {
    for (const row of rows.filter(({ status }) => status === 'ACTIVE')) {
      noteOldest(since, row);
    }
  }
  found.oldest.push(...since.values());
  return found;
}

function noteOldest(oldest: Map<string, Outbox['oldest'][number]>, row: OldestRow): void {
  const isFailing = row.failing_since !== null;
  const later = [row.begun_1, row.begun_2, row.begun_3].filter((time) => time !== null);
  const times: [OutboxStage, number[]][] = [
    ['first', row.begun_0 === null ? [] : [row.begun_0]],
    ['later', later],
  ];
  for (const [stage, created] of times) {
    if (created.length > 0) {
      const name = `${stage} ${isFailing}`;
      const since = Math.max(Math.min(...created), row.updated_at);
      oldest.set(name, { stage, isFailing, since: Math.min(since, oldest.get(name)?.since ?? since) });
    }
  }
}
