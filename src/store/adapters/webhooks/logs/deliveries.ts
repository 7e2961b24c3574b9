import { sql } from 'kysely';
import type { EventId } from '../../../../../generated/ids.js';
import type { DeliveryFilter, DeliveryLogRows } from '../../../../domain/webhooks/logs/deliveries.js';
import type { LogPosition } from '../../../../domain/webhooks/logs/page.js';
import { camelCased } from '../../../camel-case.js';
import type { Writer } from '../../../database.js';
import { allOf, between, isEqual, isOfTypes, placeAhead, placeIn } from './conditions.js';
import { deliveriesIn, logEntryRows, type PlacedDelivery, toAttempt } from './log-entries.js';
import { pageOfLists, type SlicedList } from './sliced-page.js';

/** Those of a lane leave rows that an index has in order: of one subscription, or all. */
type Conditions = Parameters<typeof allOf>[0];

/** Newest first. */
function orderIn(db: Writer) {
  return ['deliveries.created_at', `deliveries.${placeIn(db)}`] as const;
}

export function deliveryLogRows(db: Writer): DeliveryLogRows {
  return {
    ...logEntryRows(db),
    page: async (page, filter) => {
      const lanes = await lanesOf(db, filter);
      return pageOfLists(
        lanes.map((lane) => listOf(db, lane, filter)),
        page,
        positionOf,
      );
    },
    find: (id) => deliveriesIn(db).where('deliveries.id', '=', id).executeTakeFirst(),
    attemptsOf: async (id) => {
      const rows = await camelCased(db)
        .selectFrom('deliveryAttempts')
        .where('deliverySeq', '=', (delivery) =>
          delivery.selectFrom('deliveries').where('id', '=', id).select('seq'),
        )
        .orderBy('number')
        .selectAll()
        .execute();
      return rows.map(toAttempt);
    },
    statusesOf: (id, eventIds) =>
      camelCased(db)
        .selectFrom('deliveries')
        .where('eventSeq', 'in', (event) =>
          event.selectFrom('events').where('id', 'in', eventIds).select('seq'),
        )
        .where('subscriptionId', '=', id)
        .select(['eventId', 'status'])
        .$narrowType<{ eventId: EventId }>()
        .execute(),
    cancelHeld: async (id, eventIds, now) => {
      await db
        .updateTable('deliveries')
        .set({ status: 'CANCELLED', ended_at: now })
        .where('event_seq', 'in', (event) =>
          event.selectFrom('events').where('id', 'in', eventIds).select('seq'),
        )
        .where('subscription_id', '=', id)
        .where('status', '=', 'HELD')
        .execute();
    },
  };
}

/** Deliveries do not name their connection, so each of its subscriptions is asked for a page. */
async function lanesOf(
  db: Writer,
  { eventId, subscriptionId, instanceIntegrationId }: DeliveryFilter,
): Promise<Conditions[]> {
  const ofSubscription = isEqual('deliveries.subscription_id', subscriptionId);
  const ofConnection = isEqual('subscriptions.instance_integration_id', instanceIntegrationId);
  if (eventId !== undefined) {
    const ofEvent = sql<boolean>`deliveries.event_seq = (select seq from events where id = ${eventId})`;
    return [[ofEvent, ...ofSubscription, ...ofConnection]];
  }
  if (instanceIntegrationId === undefined) {
    return [ofSubscription];
  }
  const rows = await db
    .selectFrom('subscriptions')
    .where('instance_integration_id', '=', instanceIntegrationId)
    .select('id')
    .execute();
  return rows
    .filter(({ id }) => subscriptionId === undefined || id === subscriptionId)
    .map(({ id }) => isEqual('deliveries.subscription_id', id));
}

function listOf(db: Writer, inLane: Conditions, filter: DeliveryFilter): SlicedList<PlacedDelivery> {
  const order = orderIn(db);
  return {
    // An event has few deliveries, about one per subscription: one slice.
    ahead: async (after, rows) =>
      filter.eventId === undefined
        ? placeAhead(db, ['deliveries', 'created_at'], [...inLane, ...between(order, filter, after)], rows)
        : undefined,
    matches: (after, upTo, limit) =>
      newest(db, [...inLane, ...between(order, filter, after, upTo), ...matching(filter)], limit),
  };
}

function newest(db: Writer, conditions: Conditions, limit: number): Promise<PlacedDelivery[]> {
  return deliveriesIn(db)
    .where(allOf(conditions))
    .orderBy('deliveries.createdAt', 'desc')
    .orderBy(orderIn(db)[1], 'desc')
    .limit(limit)
    .execute();
}

function matching({ eventTypes, statuses }: DeliveryFilter) {
  return [
    ...isOfTypes('deliveries.event_type', eventTypes),
    ...(statuses.length === 0 ? [] : [sql<boolean>`deliveries.status in (${sql.join(statuses)})`]),
  ];
}

function positionOf({ createdAt, seq }: PlacedDelivery): LogPosition {
  return { createdAt, seq };
}
