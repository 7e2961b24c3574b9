import { type Selectable, sql } from 'kysely';
import type { ClientId, EventId, InstanceId } from '../../../../../generated/ids.js';
import type { StoredEvent } from '../../../../domain/webhooks/event-body.js';
import type { EventFilter, EventLogRows, LoggedEvent } from '../../../../domain/webhooks/logs/events.js';
import type { LogPosition } from '../../../../domain/webhooks/logs/page.js';
import type { Writer } from '../../../database.js';
import type { Schema } from '../../../schema.js';
import { kept } from '../row-locks.js';
import { allOf, between, isOfTypes, placeIn } from './conditions.js';
import { type SlicedList, slicedPage } from './sliced-page.js';

const WITHOUT_PAYLOAD = [
  'seq',
  'id',
  'type',
  'occurred_at',
  'instance_id',
  'client_id',
  'entity_type',
  'entity_id',
] as const;

export function eventLogRows(db: Writer): EventLogRows {
  return {
    page: (page, filter) => slicedPage(listOf(db, filter), page, positionOf),
    find: async (id) => {
      const row = await db.selectFrom('events').where('id', '=', id).selectAll().executeTakeFirst();
      return row && toEvent(row);
    },
    following: async (after, until, limit) => {
      const rows = await db
        .selectFrom('events')
        .where(sql<boolean>`(occurred_at, ${sql.ref(placeIn(db))}) > (${after.createdAt}, ${after.seq})`)
        .where('occurred_at', '<', until)
        .where('is_test', '=', 0)
        .orderBy('occurred_at')
        .orderBy(placeIn(db))
        .limit(limit)
        .select(WITHOUT_PAYLOAD)
        .execute();
      return rows.map(toLoggedEvent);
    },
    keep: async (ids) => {
      const rows = await kept(db, db.selectFrom('events').where('id', 'in', ids).select('id')).execute();
      return new Set(rows.map(({ id }) => id as EventId));
    },
  };
}

/** A client's events have a separate index; equal times are ordered by insertion. */
function listOf(db: Writer, filter: EventFilter): SlicedList<LoggedEvent> {
  const order = ['occurred_at', placeIn(db)] as const;
  const ofClient = filter.clientId === undefined ? [] : [sql<boolean>`client_id = ${filter.clientId}`];
  return {
    ahead: async (after, rows) => {
      const row = await db
        .selectFrom('events')
        .where(allOf([...ofClient, ...between(order, filter, after)]))
        .orderBy('occurred_at', 'desc')
        .orderBy(order[1], 'desc')
        .offset(rows - 1)
        .limit(1)
        .select(['occurred_at', 'seq'])
        .executeTakeFirst();
      return row && { createdAt: row.occurred_at, seq: row.seq };
    },
    matches: async (after, upTo, limit) => {
      const rows = await db
        .selectFrom('events')
        .where(allOf([...ofClient, ...between(order, filter, after, upTo), ...matching(filter)]))
        .orderBy('occurred_at', 'desc')
        .orderBy(order[1], 'desc')
        .limit(limit)
        .select(WITHOUT_PAYLOAD)
        .execute();
      return rows.map(toLoggedEvent);
    },
  };
}

function matching({ eventTypes, instanceId, entityId }: EventFilter) {
  return [
    sql<boolean>`is_test = 0`,
    ...isOfTypes('type', eventTypes),
    ...(instanceId === undefined ? [] : [sql<boolean>`instance_id = ${instanceId}`]),
    ...(entityId === undefined ? [] : [sql<boolean>`entity_id = ${entityId}`]),
  ];
}

function positionOf({ occurredAt, seq }: LoggedEvent): LogPosition {
  return { createdAt: occurredAt, seq };
}

function toLoggedEvent(
  row: Pick<Selectable<Schema['events']>, (typeof WITHOUT_PAYLOAD)[number]>,
): LoggedEvent {
  return {
    seq: row.seq,
    id: row.id as EventId,
    type: row.type,
    occurredAt: row.occurred_at,
    instanceId: row.instance_id as InstanceId,
    clientId: row.client_id as ClientId,
    entityType: row.entity_type,
    entityId: row.entity_id,
  };
}

function toEvent(
  row: Pick<Selectable<Schema['events']>, (typeof WITHOUT_PAYLOAD)[number] | 'data'>,
): StoredEvent & LoggedEvent {
  return { ...toLoggedEvent(row), data: row.data };
}
