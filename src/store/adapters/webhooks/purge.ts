import { type ExpressionBuilder, sql } from 'kysely';
import type { Database, Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { placeIn } from './logs/conditions.js';
import { OldRows } from './old-rows.js';
import { claimed } from './row-locks.js';

/** Removes at most so many older rows. Returns their number. */
export type Removal = (before: number, limit: number) => Promise<number>;

/** Each has dependent rows and six indexes: others get their turns. */
const ROWS_PER_WRITE = 200;

/** Deliveries that await an attempt stay at any age. */
export function deliveryRemoval({ reader, write }: Database): Removal {
  const old = new OldRows(async (after, before, limit) => {
    const rows = await reader
      .selectFrom('deliveries')
      .where(sql<boolean>`(created_at, ${sql.ref(placeIn(reader))}) > (${after.createdAt}, ${after.seq})`)
      .where('created_at', '<', before)
      .orderBy('created_at')
      .orderBy(placeIn(reader))
      .limit(limit)
      .select(['seq', 'created_at', 'status'])
      .execute();
    return rows.map(({ seq, created_at, status }) => ({
      position: { createdAt: created_at, seq },
      stays: status === 'PENDING',
    }));
  });
  return async (before, limit) =>
    inParts(await old.next(before, limit), (seqs) => write((writer) => removeDeliveries(writer, seqs)));
}

async function removeDeliveries(writer: Writer, found: readonly number[]): Promise<number> {
  const query = writer
    .selectFrom('deliveries')
    .where('seq', 'in', found)
    .where('status', '<>', 'PENDING')
    .select('seq');
  const seqs = (await claimed(writer, query).execute()).map(({ seq }) => seq);
  if (seqs.length > 0) {
    await writer.deleteFrom('delivery_attempts').where('delivery_seq', 'in', seqs).execute();
    await writer.deleteFrom('deliveries').where('seq', 'in', seqs).execute();
  }
  return seqs.length;
}

/** Events stay while a delivery refers to them, such as that of a replay. */
export function eventRemoval({ reader, write }: Database): Removal {
  const old = new OldRows(async (after, before, limit) => {
    const rows = await reader
      .selectFrom('events')
      .where(sql<boolean>`(occurred_at, ${sql.ref(placeIn(reader))}) > (${after.createdAt}, ${after.seq})`)
      .where('occurred_at', '<', before)
      .orderBy('occurred_at')
      .orderBy(placeIn(reader))
      .limit(limit)
      .select(['seq', 'occurred_at'])
      .select((event) => event.exists(itsDeliveries(event)).as('stays'))
      .execute();
    return rows.map(({ seq, occurred_at, stays }) => ({
      position: { createdAt: occurred_at, seq },
      stays: Boolean(stays),
    }));
  });
  return async (before, limit) =>
    inParts(await old.next(before, limit), (seqs) => write((writer) => removeEvents(writer, seqs)));
}

/** A replay first locks its events; so after this lock, references are visible or never come. */
async function removeEvents(writer: Writer, found: readonly number[]): Promise<number> {
  const query = writer.selectFrom('events').where('seq', 'in', found).select('seq');
  const seqs = (await claimed(writer, query).execute()).map(({ seq }) => seq);
  if (seqs.length === 0) {
    return 0;
  }
  const { numDeletedRows } = await writer
    .deleteFrom('events')
    .where('seq', 'in', seqs)
    .where((event) => event.not(event.exists(itsDeliveries(event))))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

function itsDeliveries(event: ExpressionBuilder<Schema, 'events'>) {
  return event
    .selectFrom('deliveries')
    .whereRef('deliveries.event_seq', '=', 'events.seq')
    .select(sql`1`.as('one'));
}

async function inParts(
  seqs: readonly number[],
  remove: (seqs: readonly number[]) => Promise<number>,
): Promise<number> {
  let removed = 0;
  for (let from = 0; from < seqs.length; from += ROWS_PER_WRITE) {
    removed += await remove(seqs.slice(from, from + ROWS_PER_WRITE));
  }
  return removed;
}
