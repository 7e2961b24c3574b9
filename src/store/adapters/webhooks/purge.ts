import { type ExpressionBuilder, sql } from 'kysely';
import type { Database, Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { deliveryIdsFrom } from './log-conditions.js';
import { OldRows } from './old-rows.js';
import { claimed } from './row-locks.js';

/** Removes at most so many that are older than a time. Answers how many it removed. */
export type Removal = (before: number, limit: number) => Promise<number>;

/** Each with what belongs to it and six indexes: others want to write too. */
const ROWS_PER_WRITE = 200;

/** Deliveries that wait for an attempt stay however old they are. */
export function deliveryRemoval({ reader, write }: Database): Removal {
  const old = new OldRows(async (after, before, limit) => {
    const rows = await reader
      .selectFrom('deliveries')
      .where('id', '>', after.id)
      .where('id', '<', deliveryIdsFrom(before))
      .orderBy('id')
      .limit(limit)
      .select(['id', 'created_at', 'status'])
      .execute();
    return rows.map(({ id, created_at, status }) => ({
      position: { createdAt: created_at, id },
      stays: status === 'PENDING',
    }));
  });
  return async (before, limit) =>
    inParts(await old.next(before, limit), (ids) => write((writer) => removeDeliveries(writer, ids)));
}

async function removeDeliveries(writer: Writer, found: readonly string[]): Promise<number> {
  const query = writer
    .selectFrom('deliveries')
    .where('id', 'in', found)
    .where('status', '<>', 'PENDING')
    .select('id');
  const ids = (await claimed(writer, query).execute()).map(({ id }) => id);
  if (ids.length > 0) {
    await writer.deleteFrom('delivery_attempts').where('delivery_id', 'in', ids).execute();
    await writer.deleteFrom('deliveries').where('id', 'in', ids).execute();
  }
  return ids.length;
}

/** Events stay for as long as a delivery refers to them, such as that of a replay. */
export function eventRemoval({ reader, write }: Database): Removal {
  const old = new OldRows(async (after, before, limit) => {
    const rows = await reader
      .selectFrom('events')
      .where(sql<boolean>`(occurred_at, id) > (${after.createdAt}, ${after.id})`)
      .where('occurred_at', '<', before)
      .orderBy('occurred_at')
      .orderBy('id')
      .limit(limit)
      .select(['id', 'occurred_at'])
      .select((event) => event.exists(itsDeliveries(event)).as('stays'))
      .execute();
    return rows.map(({ id, occurred_at, stays }) => ({
      position: { createdAt: occurred_at, id },
      stays: Boolean(stays),
    }));
  });
  return async (before, limit) =>
    inParts(await old.next(before, limit), (ids) => write((writer) => removeEvents(writer, ids)));
}

/** Who sends an event again keeps it first; so once it is locked, what refers to it is there for the second statement to see, or never will be. */
async function removeEvents(writer: Writer, found: readonly string[]): Promise<number> {
  const query = writer.selectFrom('events').where('id', 'in', found).select('id');
  const ids = (await claimed(writer, query).execute()).map(({ id }) => id);
  if (ids.length === 0) {
    return 0;
  }
  const { numDeletedRows } = await writer
    .deleteFrom('events')
    .where('id', 'in', ids)
    .where((event) => event.not(event.exists(itsDeliveries(event))))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

function itsDeliveries(event: ExpressionBuilder<Schema, 'events'>) {
  return event
    .selectFrom('deliveries')
    .whereRef('deliveries.event_id', '=', 'events.id')
    .select(sql`1`.as('one'));
}

async function inParts(
  ids: readonly string[],
  remove: (ids: readonly string[]) => Promise<number>,
): Promise<number> {
  let removed = 0;
  for (let from = 0; from < ids.length; from += ROWS_PER_WRITE) {
    removed += await remove(ids.slice(from, from + ROWS_PER_WRITE));
  }
  return removed;
}
