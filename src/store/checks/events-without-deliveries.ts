import { matchesAny } from '../../domain/webhooks/event-patterns.js';
import { placeIn } from '../adapters/webhooks/logs/conditions.js';
import type { Reader } from '../database.js';
import { type Check, type CheckSettings, Tally } from './check.js';

/** A write that began before a change of the subscription may record its events after it. */
const MARGIN_MS = 60_000;
const PAGE = 1_000;
/** A concurrent purge uses a later time than ours, and removes deliveries before events. */
const PURGE_MARGIN_MS = 3_600_000;

/** Checks subscriptions since their last change only: rows do not show their earlier settings. */
export const eventsWithoutDeliveries: Check = {
  name: 'events-without-deliveries',
  severity: 'error',
  about: 'Every event has a delivery for each subscription that should receive it.',
  remedy:
    'Send them: `integration event replay` for the subscription and the time of the events. A receiver that already has an event recognizes it by its id.',
  find: async (reader, settings) => {
    const tally = new Tally(settings.endsAt);
    for (const subscription of await settledSubscriptions(reader)) {
      await findMissing(reader, subscription, settings, tally);
    }
    return tally.found('events');
  },
};

type Subscription = Awaited<ReturnType<typeof settledSubscriptions>>[number];

async function settledSubscriptions(reader: Reader) {
  const rows = await reader
    .selectFrom('subscriptions as subscription')
    .innerJoin('instance_integrations as connection', 'connection.id', 'subscription.instance_integration_id')
    .where('subscription.status', '<>', 'DELETED')
    .where('connection.configured_at', 'is not', null)
    .orderBy('subscription.id')
    .select([
      'subscription.id',
      'subscription.instance_id as instanceId',
      'subscription.event_types',
      'subscription.client_ids',
      'subscription.updated_at as changedAt',
      'connection.updated_at as connectionChangedAt',
    ])
    .execute();
  return rows.map(({ event_types, client_ids, changedAt, connectionChangedAt, ...row }) => ({
    ...row,
    eventTypes: JSON.parse(event_types) as string[],
    clientIds: JSON.parse(client_ids) as string[],
    since: Math.max(changedAt, connectionChangedAt) + MARGIN_MS,
  }));
}

/** Reads the newest events first. A page counts all events, with and without a delivery. */
async function findMissing(
  reader: Reader,
  { id, instanceId, eventTypes, clientIds, since }: Subscription,
  { now, eventsMs }: CheckSettings,
  tally: Tally,
): Promise<void> {
  const place = placeIn(reader);
  const unpurged = now - eventsMs + Math.min(PURGE_MARGIN_MS, eventsMs / 10);
  let before = { occurredAt: Number.MAX_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };
  while (tally.looked(0)) {
    const events = await reader
      .selectFrom('events')
      .where('instance_id', '=', instanceId)
      .where('is_test', '=', 0)
      .where('occurred_at', '>=', Math.max(since, unpurged))
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('occurred_at', place), '<', tuple(before.occurredAt, before.seq)),
      )
      .orderBy('occurred_at', 'desc')
      .orderBy(place, 'desc')
      .limit(PAGE)
      .select(['seq', 'id', 'type', 'client_id', 'occurred_at'])
      .select(({ exists, selectFrom, lit }) =>
        exists(
          selectFrom('deliveries')
            .whereRef('deliveries.event_seq', '=', 'events.seq')
            .where('deliveries.subscription_id', '=', id)
            .select(lit(1).as('one')),
        ).as('isSent'),
      )
      .execute();
    for (const event of events) {
      const isOfClient = clientIds.length === 0 || clientIds.includes(event.client_id);
      if (!event.isSent && isOfClient && matchesAny(eventTypes, event.type)) {
        tally.add(`${event.id} (${event.type}) for ${id}`);
      }
    }
    const last = events.at(-1);
    tally.looked(events.length);
    if (events.length < PAGE || !last) {
      return;
    }
    before = { occurredAt: last.occurred_at, seq: last.seq };
  }
}
