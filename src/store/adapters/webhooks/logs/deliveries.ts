import { sql } from 'kysely';
import type { EventId } from '../../../../../generated/ids.js';
import type { Delivery, DeliveryAttempt } from '../../../../domain/webhooks/deliveries.js';
import type { DeliveryFilter, DeliveryLogRows } from '../../../../domain/webhooks/logs/deliveries.js';
import type { LogEntry, LogEntryRows } from '../../../../domain/webhooks/logs/log-entries.js';
import type { LogPosition } from '../../../../domain/webhooks/logs/page.js';
import { camelCased, type Tables, type Writer } from '../../../database.js';
import { inNumbers } from '../../statements/dialect.js';
import { keptStatement } from '../../statements/kept-statement.js';
import { allOf, between, isEqual, isOfTypes, placeAhead, placeIn } from './conditions.js';
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

type Behind = Record<'at' | 'deliverySeq' | 'attemptNumber' | 'to' | 'limit', number>;

/** Each half goes by its own index. */
const happened = keptStatement((db, { at, deliverySeq, attemptNumber, to, limit }: Behind) => {
  const place = sql.ref(placeIn(db));
  return sql<LogEntry>`
    select * from (
      select created_at as at, seq as "deliverySeq", 0 as "attemptNumber" from deliveries
      where (created_at, ${place}) > (${at}, ${deliverySeq}) and created_at <= ${to}
      order by created_at, ${place} limit ${limit}
    ) as made
    union all
    select * from (
      select ended_at, delivery_seq, number from delivery_attempts
      where (ended_at, delivery_seq, number) > (${at}, ${deliverySeq}, ${attemptNumber}) and ended_at <= ${to}
      order by ended_at, delivery_seq, number limit ${limit}
    ) as ended
    order by 1, 2, 3 limit ${limit}
  `;
});

function logEntryRows(db: Writer): LogEntryRows {
  return {
    happenedIn: async ({ from, to }, after = { at: from, deliverySeq: 0, attemptNumber: 0 }, limit) =>
      (await happened(db, { ...after, to, limit })).rows,
    findAll: async (seqs) => {
      const found = deliveriesIn(db).where(inNumbers(db, 'deliveries.seq', JSON.stringify(seqs)));
      const rows = seqs.length === 0 ? [] : await found.execute();
      return new Map(rows.map((delivery) => [delivery.seq, delivery]));
    },
    attemptsOfAll: async (seqs) => {
      const found = camelCased(db)
        .selectFrom('deliveryAttempts')
        .where(inNumbers(db, 'deliverySeq', JSON.stringify(seqs)))
        .selectAll();
      const attempts = new Map<number, DeliveryAttempt[]>();
      for (const row of seqs.length === 0 ? [] : await found.execute()) {
        const seq = row.deliverySeq;
        attempts.set(seq, [...(attempts.get(seq) ?? []), toAttempt(row)]);
      }
      return attempts;
    },
  };
}

/** With its place in the log. */
type PlacedDelivery = Delivery & { seq: number };

type Ids = Pick<Delivery, 'id' | 'subscriptionId' | 'instanceIntegrationId' | 'eventId'>;

/** Deliveries with fields of their subscription, which outlives them. */
function deliveriesIn(db: Writer) {
  return camelCased(db)
    .selectFrom('deliveries')
    .innerJoin('subscriptions', 'subscriptions.id', 'deliveries.subscriptionId')
    .selectAll('deliveries')
    .select('subscriptions.instanceIntegrationId')
    .$narrowType<Ids>();
}

function toAttempt(row: Tables['deliveryAttempts']): DeliveryAttempt {
  const { deliverySeq: _, responseStart, ...attempt } = row;
  return { ...attempt, responseStart: responseStart === null ? null : Buffer.from(responseStart, 'base64') };
}
