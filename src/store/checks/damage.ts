import { sql } from 'kysely';
import { matchesAny } from '../../domain/webhooks/event-patterns.js';
import { inPieces } from '../../fairness/pieces.js';
import { storedAnswers } from '../adapters/idempotency-keys.js';
import { placeIn } from '../adapters/webhooks/logs/conditions.js';
import type { Reader } from '../database.js';
import type { Schema } from '../schema.js';
import { type Check, type CheckSettings, Tally } from './check.js';

/** A write that began before a change of the subscription may record its events after it. */
const MARGIN_MS = 60_000;
const EVENTS_PAGE = 1_000;
/** A concurrent purge uses a later time than ours, and removes deliveries before events. */
const PURGE_MARGIN_MS = 3_600_000;

/** Checks subscriptions since their last change only: rows do not show their earlier settings. */
const eventsWithoutDeliveries: Check = {
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
  if (!tally.looked(0)) {
    return;
  }
  const place = placeIn(reader);
  const unpurged = now - eventsMs + Math.min(PURGE_MARGIN_MS, eventsMs / 10);
  const pages = inPieces(EVENTS_PAGE, (limit, before?: { occurred_at: number; seq: number }) =>
    reader
      .selectFrom('events')
      .where('instance_id', '=', instanceId)
      .where('is_test', '=', 0)
      .where('occurred_at', '>=', Math.max(since, unpurged))
      .$if(before !== undefined, (query) =>
        query.where(
          sql<boolean>`(occurred_at, ${sql.ref(place)}) < (${before?.occurred_at}, ${before?.seq})`,
        ),
      )
      .orderBy('occurred_at', 'desc')
      .orderBy(place, 'desc')
      .limit(limit)
      .select(['seq', 'id', 'type', 'client_id', 'occurred_at'])
      .select(({ exists, selectFrom, lit }) =>
        exists(
          selectFrom('deliveries')
            .whereRef('deliveries.event_seq', '=', 'events.seq')
            .where('deliveries.subscription_id', '=', id)
            .select(lit(1).as('one')),
        ).as('isSent'),
      )
      .execute(),
  );
  for await (const events of pages) {
    for (const event of events) {
      const isOfClient = clientIds.length === 0 || clientIds.includes(event.client_id);
      if (!event.isSent && isOfClient && matchesAny(eventTypes, event.type)) {
        tally.add(`${event.id} (${event.type}) for ${id}`);
      }
    }
    if (!tally.looked(events.length)) {
      return;
    }
  }
}

const KEYS_PAGE = 500;

/** The answer is written in the transaction that first uses the key, so committed rows have one. */
const keysWithoutAnswers: Check = {
  name: 'keys-without-answers',
  severity: 'error',
  about: 'Every idempotency key has the answer of its call.',
  remedy:
    'Such a call was written incompletely: check its effects, and repeat what is missing with a new key. The service refuses the old key until it is purged.',
  find: async (reader, { endsAt }) => {
    const tally = new Tally(endsAt);
    for await (const { method, key, response } of answers(reader, tally)) {
      if (response === null) {
        tally.add(`${method} ${key}`);
      }
    }
    return tally.found('keys');
  },
};

/** Rows that are never removed: deleted users and workers keep theirs. */
const KEPT_FOR_GOOD = {
  ins: 'instances',
  cli: 'clients',
  acc: 'accounts',
  usr: 'users',
  wrk: 'workers',
} as const satisfies Record<string, keyof Schema>;

const ID = /(ins|cli|acc|usr|wrk)_[0-9A-Za-z]{22}/g;

const answersOfNothing: Check = {
  name: 'answers-of-nothing',
  severity: 'error',
  about: 'Every record that the answer of an idempotency key names exists.',
  remedy:
    'The caller got an id that was not stored: create the record again with a new key, and inform users of that id.',
  find: async (reader, { endsAt }) => {
    const tally = new Tally(endsAt);
    for await (const { method, key, response } of answers(reader, tally)) {
      for (const id of new Set(
        Buffer.from(response ?? '', 'base64')
          .toString('latin1')
          .match(ID),
      )) {
        const table = KEPT_FOR_GOOD[id.slice(0, 3) as keyof typeof KEPT_FOR_GOOD];
        const row = await reader.selectFrom(table).where('id', '=', id).select('id').executeTakeFirst();
        if (!row) {
          tally.add(`${id} in the answer of ${method} ${key}`);
        }
      }
    }
    return tally.found('keys');
  },
};

async function* answers(reader: Reader, tally: Tally) {
  for await (const rows of storedAnswers(reader, KEYS_PAGE)) {
    yield* rows;
    if (!tally.looked(rows.length)) {
      return;
    }
  }
}

/** Checks of rows for damage, in the order of the report. */
export const damageChecks: readonly Check[] = [eventsWithoutDeliveries, keysWithoutAnswers, answersOfNothing];
