import { sql } from 'kysely';
import type { EventId } from '../../../../generated/ids.js';
import type { PageRequest, Position } from '../../../domain/directory/page.js';
import type { Delivery } from '../../../domain/webhooks/deliveries.js';
import type { DeliveryFilter, DeliveryLogRows } from '../../../domain/webhooks/delivery-log.js';
import type { LogPage } from '../../../domain/webhooks/log-page.js';
import type { Writer } from '../../database.js';
import { happeningRows } from './delivery-happenings.js';
import { deliveriesIn, toAttempt, toDelivery } from './delivery-rows.js';
import { allOf, deliveryIdsFrom, isOfTypes } from './log-conditions.js';
import { mergedPages, type SlicedList, slicedPage } from './sliced-page.js';

export function deliveryLogRows(db: Writer): DeliveryLogRows {
  return {
    ...happeningRows(db),
    page: (page, filter) =>
      filter.eventId === undefined ? pageOfLanes(db, page, filter) : pageOfEvent(db, page, filter),
    find: async (id) => {
      const row = await deliveriesIn(db).where('deliveries.id', '=', id).executeTakeFirst();
      return row && toDelivery(row);
    },
    attemptsOf: async (id) => {
      const rows = await db
        .selectFrom('delivery_attempts')
        .where('delivery_id', '=', id)
        .orderBy('number')
        .selectAll()
        .execute();
      return rows.map(toAttempt);
    },
    statusesOf: async (id, eventIds) => {
      const rows = await db
        .selectFrom('deliveries')
        .where('event_id', 'in', eventIds)
        .where('subscription_id', '=', id)
        .select(['event_id', 'status'])
        .execute();
      return rows.map(({ event_id, status }) => ({ eventId: event_id as EventId, status }));
    },
    cancelHeld: async (id, eventIds, now) => {
      await db
        .updateTable('deliveries')
        .set({ status: 'CANCELLED', ended_at: now })
        .where('event_id', 'in', eventIds)
        .where('subscription_id', '=', id)
        .where('status', '=', 'HELD')
        .execute();
    },
  };
}

/** What one index has in order: the deliveries to one subscription, or all. */
type Lane = string | undefined;

/** By connection, which deliveries do not name, each of its subscriptions is asked for a page. */
async function pageOfLanes(
  db: Writer,
  page: PageRequest,
  filter: DeliveryFilter,
): Promise<LogPage<Delivery>> {
  const pages: LogPage<Delivery>[] = [];
  for (const lane of await lanesOf(db, filter)) {
    pages.push(await slicedPage(listOf(db, lane, filter), page, positionOf));
  }
  return mergedPages(pages, page.limit, positionOf);
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

function listOf(db: Writer, lane: Lane, filter: DeliveryFilter): SlicedList<Delivery> {
  const inLane = lane === undefined ? [] : [sql<boolean>`deliveries.subscription_id = ${lane}`];
  return {
    ahead: async (after, rows) => {
      const row = await db
        .selectFrom('deliveries')
        .where(allOf([...inLane, ...between(filter, after)]))
        .orderBy('id', 'desc')
        .offset(rows - 1)
        .limit(1)
        .select(['id', 'created_at'])
        .executeTakeFirst();
      return row && { createdAt: row.created_at, id: row.id };
    },
    matches: async (after, upTo, limit) => {
      const rows = await deliveriesIn(db)
        .where(allOf([...inLane, ...between(filter, after, upTo), ...matching(filter)]))
        .orderBy('deliveries.id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(toDelivery);
    },
  };
}

/** An event has few deliveries: about one for each subscription. */
async function pageOfEvent(
  db: Writer,
  { after, limit }: PageRequest,
  filter: DeliveryFilter,
): Promise<LogPage<Delivery>> {
  const { eventId, subscriptionId, instanceIntegrationId } = filter;
  const conditions = [
    sql<boolean>`deliveries.event_id = ${eventId}`,
    ...(subscriptionId === undefined ? [] : [sql<boolean>`deliveries.subscription_id = ${subscriptionId}`]),
    ...(instanceIntegrationId === undefined
      ? []
      : [sql<boolean>`subscriptions.instance_integration_id = ${instanceIntegrationId}`]),
  ];
  const rows = await deliveriesIn(db)
    .where(allOf([...conditions, ...between(filter, after), ...matching(filter)]))
    .orderBy('deliveries.id', 'desc')
    .limit(limit + 1)
    .execute();
  const deliveries = rows.slice(0, limit).map(toDelivery);
  const last = deliveries.at(-1);
  return { rows: deliveries, next: rows.length > limit && last ? positionOf(last) : undefined };
}

/** One bound on either side: of two, the database may take the wrong one and walk to the other. */
function between({ since, until }: DeliveryFilter, after: Position | undefined, upTo?: Position) {
  const from = [upTo?.id, since === undefined ? undefined : deliveryIdsFrom(since)].filter(isThere).sort();
  const to = [after?.id, until === undefined ? undefined : deliveryIdsFrom(until)].filter(isThere).sort();
  return [
    ...from.slice(-1).map((id) => sql<boolean>`deliveries.id >= ${id}`),
    ...to.slice(0, 1).map((id) => sql<boolean>`deliveries.id < ${id}`),
  ];
}

function isThere(id: string | undefined): id is string {
  return id !== undefined;
}

function matching({ eventTypes, statuses }: DeliveryFilter) {
  return [
    ...isOfTypes('deliveries.event_type', eventTypes),
    ...(statuses.length === 0 ? [] : [sql<boolean>`deliveries.status in (${sql.join(statuses)})`]),
  ];
}

function positionOf({ createdAt, id }: Delivery): Position {
  return { createdAt, id };
}
