import { sql } from 'kysely';
import type { ClientId, EventId, InstanceId } from '../../../../generated/ids.js';
import type { Position } from '../../../domain/directory/page.js';
import type { StoredEvent } from '../../../domain/webhooks/event-body.js';
import type { EventFilter, EventLogRows, LoggedEvent } from '../../../domain/webhooks/event-log.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { allOf, isOfTypes } from './log-conditions.js';
import { kept } from './row-locks.js';
import { type SlicedList, slicedPage } from './sliced-page.js';

const WITHOUT_PAYLOAD = [
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
        .where(sql<boolean>`(occurred_at, id) > (${after.createdAt}, ${after.id})`)
        .where('occurred_at', '<', until)
        .where('is_test', '=', 0)
        .orderBy('occurred_at')
        .orderBy('id')
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

/** Those of a client have an index of their own; of those of one instant the order is the id's. */
function listOf(db: Writer, filter: EventFilter): SlicedList<LoggedEvent> {
  const ofClient = filter.clientId === undefined ? [] : [sql<boolean>`client_id = ${filter.clientId}`];
  return {
    ahead: async (after, rows) => {
      const row = await db
        .selectFrom('events')
        .where(allOf([...ofClient, ...between(filter, after)]))
        .orderBy('occurred_at', 'desc')
        .orderBy('id', 'desc')
        .offset(rows - 1)
        .limit(1)
        .select(['occurred_at', 'id'])
        .executeTakeFirst();
      return row && { createdAt: row.occurred_at, id: row.id };
    },
    matches: async (after, upTo, limit) => {
      const rows = await db
        .selectFrom('events')
        .where(allOf([...ofClient, ...between(filter, after, upTo), ...matching(filter)]))
        .orderBy('occurred_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .select(WITHOUT_PAYLOAD)
        .execute();
      return rows.map(toLoggedEvent);
    },
  };
}

/** One bound on either side: of two, the database may take the wrong one and walk to the other. */
function between({ since, until }: EventFilter, after: Position | undefined, upTo?: Position) {
  const from = [upTo, beginningOf(since)].filter(isThere).sort(byAge);
  const to = [after, beginningOf(until)].filter(isThere).sort(byAge);
  return [
    ...from.slice(-1).map(({ createdAt, id }) => sql<boolean>`(occurred_at, id) >= (${createdAt}, ${id})`),
    ...to.slice(0, 1).map(({ createdAt, id }) => sql<boolean>`(occurred_at, id) < (${createdAt}, ${id})`),
  ];
}

/** Before whatever happened at the time. */
function beginningOf(time: number | undefined): Position | undefined {
  return time === undefined ? undefined : { createdAt: time, id: '' };
}

function isThere(position: Position | undefined): position is Position {
  return position !== undefined;
}

function byAge(a: Position, b: Position): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

function matching({ eventTypes, instanceId, entityId }: EventFilter) {
  return [
    sql<boolean>`is_test = 0`,
    ...isOfTypes('type', eventTypes),
    ...(instanceId === undefined ? [] : [sql<boolean>`instance_id = ${instanceId}`]),
    ...(entityId === undefined ? [] : [sql<boolean>`entity_id = ${entityId}`]),
  ];
}

function positionOf({ occurredAt, id }: LoggedEvent): Position {
  return { createdAt: occurredAt, id };
}

function toLoggedEvent(row: Pick<Schema['events'], (typeof WITHOUT_PAYLOAD)[number]>): LoggedEvent {
  return {
    id: row.id as EventId,
    type: row.type,
    occurredAt: row.occurred_at,
    instanceId: row.instance_id as InstanceId,
    clientId: row.client_id as ClientId,
    entityType: row.entity_type,
    entityId: row.entity_id,
  };
}

function toEvent(row: Pick<Schema['events'], (typeof WITHOUT_PAYLOAD)[number] | 'data'>): StoredEvent {
  return { ...toLoggedEvent(row), data: row.data };
}
