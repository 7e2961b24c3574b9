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
  about: 'Every event has a delivery for each subscription that should receive it.',
  remedy:
    'Send them: `integration event replay` for the subscription and the time of the events. Receivers that were sent one already see the same event id.',
  find: async (reader, settings) => {
    const tally = new Tally();
    for (const subscription of await settledSubscriptions(reader)) {
      await findMissing(reader, subscription, settings, tally);
    }
    return tally.found();
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

async function findMissing(
  reader: Reader,
  { id, instanceId, eventTypes, clientIds, since }: Subscription,
  { now, eventsMs }: CheckSettings,
  tally: Tally,
): Promise<void> {
  const place = placeIn(reader);
  const unpurged = now - eventsMs + Math.min(PURGE_MARGIN_MS, eventsMs / 10);
  let after = { occurredAt: Math.max(since, unpurged), seq: 0 };
  for (;;) {
    const events = await reader
      .selectFrom('events')
      .where('instance_id', '=', instanceId)
      .where('is_test', '=', 0)
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('occurred_at', place), '>', tuple(after.occurredAt, after.seq)),
      )
      .where(({ not, exists, selectFrom, lit }) =>
        not(
          exists(
            selectFrom('deliveries')
              .whereRef('deliveries.event_seq', '=', 'events.seq')
              .where('deliveries.subscription_id', '=', id)
              .select(lit(1).as('one')),
          ),
        ),
      )
      .orderBy('occurred_at')
      .orderBy(place)
      .limit(PAGE)
      .select(['seq', 'id', 'type', 'client_id', 'occurred_at'])
      .execute();
    for (const event of events) {
      const isOfClient = clientIds.length === 0 || clientIds.includes(event.client_id);
      if (isOfClient && matchesAny(eventTypes, event.type)) {
        tally.add(`${event.id} (${event.type}) for ${id}`);
      }
    }
    const last = events.at(-1);
    if (events.length < PAGE || !last) {
      return;
    }
    after = { occurredAt: last.occurred_at, seq: last.seq };
  }
}
