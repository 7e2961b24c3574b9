import { type Compilable, sql } from 'kysely';
import type { DeliveryId, InstanceIntegrationId, SubscriptionId } from '../../../../generated/ids.js';
import type { BegunDelivery, Receiver, SendingChanges, SentEvent } from '../../../domain/webhooks/sending.js';
import type { Writer } from '../../database.js';
import { keptStatement } from '../kept-statement.js';
import { IS_PENDING_ITSELF, inList, inNumbers, isPending, isPostgres } from './dialect-words.js';

type Claiming = Pick<
  SendingChanges,
  | 'claimAlone'
  | 'dueSubscriptions'
  | 'receivers'
  | 'runningToFailing'
  | 'due'
  | 'beginFirst'
  | 'takeBack'
  | 'beginLater'
  | 'events'
>;

/** A name for the lock, which PostgreSQL wants as a number. */
const CLAIM_LOCK = 1_938_275_501;

const claimLock = keptStatement((db) => ({
  compile: () => sql`select pg_advisory_xact_lock(${sql.lit(CLAIM_LOCK)})`.compile(db),
}));

/**
 * From one subscription with pending deliveries to the next by the index: of each, one row is looked at, however many there are. In the whole order
 * of that index, which no other has: PostgreSQL would take another as soon as its statistics are those of a quieter time.
 */
const dueSubscriptions = keptStatement(
  (db, { after, limit }: { after: string; limit: number }): Compilable<{ id: string }> => {
    const next = (than: unknown) => sql`(
      select subscription_id from deliveries where ${isPending(db)} and subscription_id > ${than}
      order by subscription_id, attempts_begun, seq limit 1
    )`;
    return {
      compile: () =>
        sql<{ id: string }>`
          with recursive pending(id) as (
            select ${next(after)}
            union all
            select ${next(sql.ref('pending.id'))} from pending where pending.id is not null
          )
          select id from pending
          where id is not null and (select status from subscriptions where subscriptions.id = pending.id) = 'ACTIVE' and (
            select seq from deliveries where ${isPending(db)} and subscription_id = pending.id and attempts_begun < 1
            order by attempts_begun, seq limit 1
          ) is not null
          limit ${limit}
        `.compile(db),
    };
  },
);

const receivers = keptStatement((db, { ids, now }: { ids: string; now: number }) =>
  db
    .selectFrom('subscriptions as subscription')
    .leftJoin('subscription_secrets as secret', (join) =>
      join
        .onRef('secret.subscription_id', '=', 'subscription.id')
        .on((on) => on.or([on('secret.expires_at', 'is', null), on('secret.expires_at', '>', now)])),
    )
    .where(inList(db, 'subscription.id', ids))
    .orderBy('subscription.id')
    .orderBy('secret.created_at', 'desc')
    .orderBy('secret.id')
    .select((row) => [
      'subscription.id',
      'subscription.instance_integration_id',
      'subscription.url',
      'subscription.failing_since',
      'secret.id as secret_id',
      'secret.sealed',
      row
        .selectFrom('deliveries')
        .whereRef('deliveries.subscription_id', '=', 'subscription.id')
        .where('deliveries.lease_until', '>', now)
        .select(({ fn }) => fn.countAll().as('count'))
        .as('running'),
    ]),
);

/** Over what is under way, of which there is never much; the subscription of each is looked up. */
const runningToFailing = keptStatement((db, { now }: { now: number }) =>
  db
    .selectFrom('deliveries')
    .where('lease_until', '>', now)
    .where(
      sql<boolean>`(select failing_since from subscriptions where subscriptions.id = deliveries.subscription_id) is not null`,
    )
    .select(({ fn }) => fn.countAll().as('count')),
);

const due = keptStatement((db, { id, after, limit }: { id: string; after: number; limit: number }) => {
  const query = db
    .selectFrom('deliveries')
    .where(isPending(db))
    .where('subscription_id', '=', id)
    .where('attempts_begun', '=', 0)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .select('seq');
  return isPostgres(db) ? query.forUpdate().skipLocked() : query;
});

/** The deliveries of one that was disabled or deleted are held or cancelled little by little; none of them is sent meanwhile. */
const IS_TO_ACTIVE = sql<boolean>`(select status from subscriptions where subscriptions.id = deliveries.subscription_id) = 'ACTIVE'`;

/** One for all: SQLite takes several times as long where each subscription has its own. */
const beginFirst = keptStatement((db, values: { seqs: string; now: number; leaseUntil: number }) => {
  const query = db
    .updateTable('deliveries')
    .set({ attempts_begun: 1, attempt_started_at: values.now, lease_until: values.leaseUntil })
    .where(inNumbers(db, 'seq', values.seqs))
    .where(IS_PENDING_ITSELF)
    .where('attempts_begun', '=', 0)
    .returning(['seq', 'id', 'event_seq']);
  // On SQLite nobody disables one between the look and this.
  return isPostgres(db) ? query.where(IS_TO_ACTIVE) : query;
});

const takeBack = keptStatement((db, { seqs, now }: { seqs: string; now: number }) =>
  db
    .updateTable('deliveries')
    .set({ attempts_begun: 0, attempt_started_at: null, lease_until: null })
    .where(inNumbers(db, 'seq', seqs))
    .where('attempts_begun', '=', 1)
    .where('attempt_started_at', '=', now),
);

const beginLater = keptStatement(
  (db, values: { id: string; number: number; before: number; now: number; leaseUntil: number }) =>
    db
      .updateTable('deliveries')
      .set({
        attempts_begun: values.number,
        attempt_started_at: values.now,
        lease_until: values.leaseUntil,
        next_attempt_at: null,
      })
      .where('id', '=', values.id)
      .where(IS_PENDING_ITSELF)
      .where(IS_TO_ACTIVE)
      .where('attempts_begun', '=', values.before)
      .where('lease_until', 'is', null)
      .returning(['seq', 'id', 'subscription_id', 'event_seq']),
);

const events = keptStatement((db, { seqs }: { seqs: string }) =>
  db
    .selectFrom('events')
    .where(inNumbers(db, 'seq', seqs))
    .select([
      'seq',
      'id',
      'type',
      'occurred_at as occurredAt',
      'instance_id as instanceId',
      'client_id as clientId',
      'entity_type as entityType',
      'entity_id as entityId',
      'data',
    ]),
);

export function claiming(db: Writer, now: number): Claiming {
  return {
    claimAlone: async () => {
      if (isPostgres(db)) {
        await claimLock(db, {});
      }
    },
    dueSubscriptions: (after, limit) => subscriptionsWithDue(db, after, limit),
    receivers: async (ids) => toReceivers((await receivers(db, { ids: JSON.stringify(ids), now })).rows),
    runningToFailing: async () => Number((await runningToFailing(db, { now })).rows[0]?.count ?? 0),
    due: async (id, after, limit) => (await due(db, { id, after, limit })).rows.map(({ seq }) => seq),
    beginFirst: async (seqs, leaseUntil) =>
      seqs.length === 0
        ? []
        : (await beginFirst(db, { seqs: JSON.stringify(seqs), now, leaseUntil })).rows.map(toBegun),
    takeBack: async (seqs) => {
      if (seqs.length > 0) {
        await takeBack(db, { seqs: JSON.stringify(seqs), now });
      }
    },
    beginLater: async (id, number, leaseUntil) => {
      const [row] = (await beginLater(db, { id, number, before: number - 1, now, leaseUntil })).rows;
      return row && { ...toBegun(row), subscriptionId: row.subscription_id as SubscriptionId };
    },
    events: async (seqs) =>
      seqs.length === 0 ? [] : ((await events(db, { seqs: JSON.stringify(seqs) })).rows as SentEvent[]),
  };
}

export async function subscriptionsWithDue(
  db: Writer,
  after: string,
  limit: number,
): Promise<SubscriptionId[]> {
  return (await dueSubscriptions(db, { after, limit })).rows.map(({ id }) => id as SubscriptionId);
}

function toBegun({ seq, id, event_seq }: { seq: number; id: string; event_seq: number }): BegunDelivery {
  return { seq, id: id as DeliveryId, eventSeq: event_seq };
}

interface ReceiverRow {
  id: string;
  instance_integration_id: string;
  url: string;
  failing_since: number | null;
  running: unknown;
  secret_id: string | null;
  sealed: string | null;
}

/** A subscription has a row for each of its secrets, one behind the other. */
function toReceivers(rows: readonly ReceiverRow[]): Receiver[] {
  const found = new Map<string, Receiver & { secrets: Receiver['secrets'][number][] }>();
  for (const row of rows) {
    const receiver = found.get(row.id) ?? {
      id: row.id as SubscriptionId,
      instanceIntegrationId: row.instance_integration_id as InstanceIntegrationId,
      url: row.url,
      failingSince: row.failing_since,
      running: Number(row.running),
      secrets: [],
    };
    found.set(row.id, receiver);
    if (row.secret_id !== null && row.sealed !== null) {
      receiver.secrets.push({ id: row.secret_id, sealed: row.sealed });
    }
  }
  return [...found.values()];
}
