import { sql } from 'kysely';
import type { EventId } from '../../../../../generated/ids.js';
import type { EventFilter, EventLogRows, LoggedEvent } from '../../../../domain/webhooks/logs/events.js';
import type { LogPosition } from '../../../../domain/webhooks/logs/page.js';
import { camelCased, type Writer } from '../../../database.js';
import { kept } from '../../statements/dialect.js';
import { allOf, between, isEqual, isOfTypes, placeAhead, placeIn } from './conditions.js';
import { type SlicedList, slicedPage } from './sliced-page.js';

const WITHOUT_PAYLOAD = [
  'seq',
  'id',
  'type',
  'occurredAt',
  'sequence',
  'isTest',
  'requestId',
  'instanceId',
  'clientId',
  'entityType',
  'entityId',
] as const satisfies readonly (keyof LoggedEvent)[];

function eventsIn(db: Writer) {
  return camelCased(db).selectFrom('events').select(WITHOUT_PAYLOAD).$narrowType<Pick<LoggedEvent, 'id'>>();
}

export function eventLogRows(db: Writer): EventLogRows {
  return {
    page: (page, filter) => slicedPage(listOf(db, filter), page, positionOf),
    find: (id) => eventsIn(db).select('data').where('id', '=', id).executeTakeFirst(),
    following: (after, until, limit) =>
      eventsIn(db)
        .where(sql<boolean>`(occurred_at, ${sql.ref(placeIn(db))}) > (${after.createdAt}, ${after.seq})`)
        .where('occurredAt', '<', until)
        .where('isTest', '=', 0)
        .orderBy('occurredAt')
        .orderBy(placeIn(db))
        .limit(limit)
        .execute(),
    keep: async (ids) => {
      const rows = await kept(db, db.selectFrom('events').where('id', 'in', ids).select('id')).execute();
      return new Set(rows.map(({ id }) => id as EventId));
    },
  };
}

/** A client's events have a separate index; equal times are ordered by insertion. */
function listOf(db: Writer, filter: EventFilter): SlicedList<LoggedEvent> {
  const order = ['occurred_at', placeIn(db)] as const;
  const ofClient = isEqual('client_id', filter.clientId);
  return {
    ahead: (after, rows) =>
      placeAhead(db, ['events', 'occurred_at'], [...ofClient, ...between(order, filter, after)], rows),
    matches: (after, upTo, limit) =>
      eventsIn(db)
        .where(allOf([...ofClient, ...between(order, filter, after, upTo), ...matching(filter)]))
        .orderBy('occurredAt', 'desc')
        .orderBy(order[1], 'desc')
        .limit(limit)
        .execute(),
  };
}

function matching({ eventTypes, instanceId, entityId }: EventFilter) {
  return [
    sql<boolean>`is_test = 0`,
    ...isOfTypes('type', eventTypes),
    ...isEqual('instance_id', instanceId),
    // In a form that fits no index: pages follow that of time.
    ...(entityId === undefined ? [] : [sql<boolean>`entity_id || '' = ${entityId}`]),
  ];
}

function positionOf({ occurredAt, seq }: LoggedEvent): LogPosition {
  return { createdAt: occurredAt, seq };
}
