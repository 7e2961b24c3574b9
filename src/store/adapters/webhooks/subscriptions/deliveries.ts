import { type Expression, sql, type Updateable } from 'kysely';
import type { SubscriptionId } from '../../../../../generated/ids.js';
import { MAX_ATTEMPTS } from '../../../../domain/webhooks/deliveries.js';
import type {
  ClosedSubscription,
  SubscriptionDeliveryRows,
} from '../../../../domain/webhooks/subscriptions/rows.js';
import { inPieces } from '../../../../fairness/pieces.js';
import { camelCased, type Writer } from '../../../database.js';
import type { Schema } from '../../../schema.js';
import { inQuery, isPostgres } from '../../statements/dialect.js';
import { changedRows, plannedStatement } from '../../statements/kept-statement.js';
import type { NoteDue } from '../../unit-of-work.js';
import { IS_OPEN } from '../dialect-words.js';
import { nextSequence } from '../event-recorder.js';

/** The size of one statement; SQLite allows 32,766 values. */
const ROWS_PER_INSERT = 500;
/** Takes SQLite some milliseconds, in which the event loop is blocked. */
const HELD_AT_ONCE = 1_000;

export function subscriptionDeliveryRows(writer: Writer, noteDue?: NoteDue): SubscriptionDeliveryRows {
  return {
    backlogOf: async (id) => {
      const rows = await writer
        .selectFrom('deliveries')
        .where('subscription_id', '=', id)
        .where(IS_OPEN)
        .groupBy('status')
        .select(({ fn }) => ['status', fn.countAll().as('count')])
        .execute();
      const countOf = (wanted: string) => Number(rows.find(({ status }) => status === wanted)?.count ?? 0);
      return { pending: countOf('PENDING'), held: countOf('HELD') };
    },
    heldSince: (id) => (isPostgres(writer) ? heldSince(writer, id) : heldSinceInPieces(writer, id)),
    insert: async (deliveries) => {
      noteDue?.(new Set(deliveries.map(({ subscriptionId }) => subscriptionId)));
      for (let from = 0; from < deliveries.length; from += ROWS_PER_INSERT) {
        const part = deliveries.slice(from, from + ROWS_PER_INSERT);
        const seqs = await seqsOf(
          writer,
          part.map(({ eventId }) => eventId),
        );
        const rows = part.map(({ instanceIntegrationId: _, ...delivery }) => ({
          ...delivery,
          eventSeq: seqs.get(delivery.eventId) as number,
        }));
        await camelCased(writer).insertInto('deliveries').values(rows).execute();
      }
    },
    insertTestEvent: async (event) => {
      await camelCased(writer)
        .insertInto('events')
        .values({ ...event, sequence: nextSequence(event.entityId, event.occurredAt) })
        .execute();
    },
    // Keeps the lease: the running attempt is still to be recorded.
    holdPending: (id, most) => close(writer, id, 'PENDING', { status: 'HELD' }, most),
    cancelOpen: async (id, now, most) => {
      const cancelled: Updateable<Schema['deliveries']> = { status: 'CANCELLED', ended_at: now };
      const pending = await close(writer, id, 'PENDING', cancelled, most);
      return pending === most ? most : pending + (await close(writer, id, 'HELD', cancelled, most - pending));
    },
    leftOpen: (limit) => leftOpen(writer, limit),
  };
}

/**
 * When its event happened. An event's own deliveries have its time: a join of many of them would read the
 * events of all tenants.
 */
const HAPPENED_AT = sql<number>`case when origin = 'EVENT' then created_at
  else (select occurred_at from events where events.seq = deliveries.event_seq) end`;

async function heldSince(writer: Writer, id: string): Promise<number | null> {
  const { first } = await writer
    .selectFrom('deliveries')
    .where('subscription_id', '=', id)
    .where(IS_OPEN)
    .where('status', '=', 'HELD')
    .select(sql<number | null>`min(${HAPPENED_AT})`.as('first'))
    .executeTakeFirstOrThrow();
  return first === null ? null : Number(first);
}

interface HeldEvent {
  seq: number;
  occurred_at: number;
}

/** In the order of the index of open deliveries. */
const heldEvents = plannedStatement(
  (_, { id, begun, after }: { id: string; begun: number; after: number }) => sql<HeldEvent>`
    select seq, ${HAPPENED_AT} as occurred_at from deliveries
    where ${IS_OPEN} and status = 'HELD' and subscription_id = ${id} and attempts_begun = ${begun}
      and seq > ${after}
    order by subscription_id, attempts_begun, seq limit ${sql.lit(HELD_AT_ONCE)}
  `,
);

/** For SQLite. All are read, because a replay makes late deliveries of early events. */
async function heldSinceInPieces(db: Writer, id: string): Promise<number | null> {
  let since = Number.POSITIVE_INFINITY;
  for (let begun = 0; begun <= MAX_ATTEMPTS; begun += 1) {
    const held = inPieces(
      HELD_AT_ONCE,
      async (_, last?: HeldEvent) => (await heldEvents(db, { id, begun, after: last?.seq ?? 0 })).rows,
    );
    for await (const rows of held) {
      since = Math.min(since, ...rows.map(({ occurred_at }) => occurred_at));
    }
  }
  return Number.isFinite(since) ? since : null;
}

type OpenStatus = 'PENDING' | 'HELD';

async function close(
  writer: Writer,
  subscriptionId: string,
  from: OpenStatus,
  to: Updateable<Schema['deliveries']>,
  most: number,
): Promise<number> {
  if (isPostgres(writer)) {
    // With old statistics PostgreSQL would read and sort all open rows each time.
    await sql`set local enable_sort = off`.execute(writer);
  }
  const update = writer
    .updateTable('deliveries')
    .set({ ...to, next_attempt_at: null })
    .where(inQuery(writer, 'seq', firstOpen(writer, from, sql.val(subscriptionId), most)))
    // In a form that fits no index: rows are found by number.
    .where(sql<boolean>`status || '' = ${sql.lit(from)}`);
  return changedRows(await writer.executeQuery(update));
}

/** Ordered by all columns of the index of open deliveries, so that no other is used. */
function firstOpen(db: Writer, status: OpenStatus, subscriptionId: Expression<unknown>, limit: number) {
  const isOpen = isPostgres(db) ? sql`` : sql`${IS_OPEN} and`;
  return sql`(
    select seq from deliveries where ${isOpen} status = ${sql.lit(status)} and subscription_id = ${subscriptionId}
    order by subscription_id, attempts_begun, seq limit ${limit}
  )`;
}

async function leftOpen(reader: Writer, limit: number): Promise<ClosedSubscription[]> {
  const has = (status: OpenStatus) =>
    sql<boolean>`${firstOpen(reader, status, sql.ref('subscriptions.id'), 1)} is not null`;
  const rows = await reader
    .selectFrom('subscriptions')
    .where((where) =>
      where.or([
        where.and([where('status', '=', 'DISABLED'), has('PENDING')]),
        where.and([where('status', '=', 'DELETED'), where.or([has('PENDING'), has('HELD')])]),
      ]),
    )
    .orderBy('id')
    .limit(limit)
    .select(['id', 'status'])
    .execute();
  return rows.map(({ id, status }) => ({ id: id as SubscriptionId, isDeleted: status === 'DELETED' }));
}

async function seqsOf(writer: Writer, eventIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await writer
    .selectFrom('events')
    .where('id', 'in', [...new Set(eventIds)])
    .select(['id', 'seq'])
    .execute();
  return new Map(rows.map(({ id, seq }) => [id, seq]));
}
