import { sql } from 'kysely';
import type { EventId } from '../../../../../generated/ids.js';
import type { DeliveryFilter, DeliveryLogRows } from '../../../../domain/webhooks/logs/deliveries.js';
import type { LogPage, LogPageRequest, LogPosition } from '../../../../domain/webhooks/logs/page.js';
import { camelCased } from '../../../camel-case.js';
import type { Writer } from '../../../database.js';
import { allOf, between, isEqual, isOfTypes, placeAhead, placeIn } from './conditions.js';
import { deliveriesIn, logEntryRows, type PlacedDelivery, toAttempt } from './log-entries.js';
import { pageOfLists, type SlicedList, slicedPage } from './sliced-page.js';

/** Newest first. */
function orderIn(db: Writer) {
  return ['deliveries.created_at', `deliveries.${placeIn(db)}`] as const;
}

export function deliveryLogRows(db: Writer): DeliveryLogRows {
  return {
    ...logEntryRows(db),
    page: (page, filter) =>
      filter.eventId === undefined ? pageOfLanes(db, page, filter) : pageOfEvent(db, page, filter),
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

/** Each index has an order: one subscription's deliveries, or all. */
type Lane = string | undefined;

/** Deliveries do not name their connection, so each of its subscriptions is asked for a page. */
async function pageOfLanes(
  db: Writer,
  page: LogPageRequest,
  filter: DeliveryFilter,
): Promise<LogPage<PlacedDelivery>> {
  const lanes = await lanesOf(db, filter);
  return pageOfLists(
    lanes.map((lane) => listOf(db, lane, filter)),
    page,
    positionOf,
  );
}

async function lanesOf(
  db: Writer,
  { subscriptionId, instanceIntegrationId }: DeliveryFilter,
): Promise<Lane[]> {
  if (instanceIntegrationId === undefined) {
    return [subscriptionId];
  }
  const rows = await db
    .selectFrom('subscriptions')
    .where('instance_integration_id', '=', instanceIntegrationId)
    .select('id')
    .execute();
  return rows.map(({ id }) => id).filter((id) => subscriptionId === undefined || id === subscriptionId);
}

function listOf(db: Writer, lane: Lane, filter: DeliveryFilter): SlicedList<PlacedDelivery> {
  const order = orderIn(db);
  const inLane = isEqual('deliveries.subscription_id', lane);
  return {
    ahead: (after, rows) =>
      placeAhead(db, ['deliveries', 'created_at'], [...inLane, ...between(order, filter, after)], rows),
    matches: (after, upTo, limit) =>
      newest(db, [...inLane, ...between(order, filter, after, upTo), ...matching(filter)], limit),
  };
}

/** An event has few deliveries, about one per subscription: one slice. */
function pageOfEvent(
  db: Writer,
  page: LogPageRequest,
  filter: DeliveryFilter,
): Promise<LogPage<PlacedDelivery>> {
  const { eventId, subscriptionId, instanceIntegrationId } = filter;
  const ofEvent = [
    sql<boolean>`deliveries.event_seq = (select seq from events where id = ${eventId})`,
    ...isEqual('deliveries.subscription_id', subscriptionId),
    ...isEqual('subscriptions.instance_integration_id', instanceIntegrationId),
  ];
  const list: SlicedList<PlacedDelivery> = {
    ahead: async () => undefined,
    matches: (after, _, limit) =>
      newest(db, [...ofEvent, ...between(orderIn(db), filter, after), ...matching(filter)], limit),
  };
  return slicedPage(list, page, positionOf);
}

function newest(
  db: Writer,
  conditions: Parameters<typeof allOf>[0],
  limit: number,
): Promise<PlacedDelivery[]> {
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
