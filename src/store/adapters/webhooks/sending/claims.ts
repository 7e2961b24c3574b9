import { type ExpressionBuilder, sql } from 'kysely';
import type { InstanceIntegrationId, SubscriptionId } from '../../../../../generated/ids.js';
import { MAX_ATTEMPTS } from '../../../../domain/webhooks/deliveries.js';
import type {
  BegunDelivery,
  ClaimChanges,
  Receiver,
  SentEvent,
  WantedFirst,
} from '../../../../domain/webhooks/sending/sending.js';
import type { Writer } from '../../../database.js';
import type { Schema } from '../../../schema.js';
import { claimed, inList, inNumbers, inQuery, isPostgres } from '../../statements/dialect.js';
import { keptPosted, keptStatement, plannedStatement, withCommit } from '../../statements/kept-statement.js';
import { CLAIMABLE_AT, IS_PENDING_ITSELF, isPending, WAITS_FOR_LATER } from '../dialect-words.js';
import { triesLock, tryLock, tryLockFailing, waitFor } from './claim-locks.js';
import { DueLooks } from './due-looks.js';

const receivers = plannedStatement((db, { ids, now }: { ids: string; now: number }) =>
  db
    .selectFrom('subscriptions as subscription')
    .leftJoin('subscription_secrets as secret', (join) =>
      join
        .onRef('secret.subscription_id', '=', 'subscription.id')
        .on((on) => on.or([on('secret.expires_at', 'is', null), on('secret.expires_at', '>', now)])),
    )
    .where(inList(db, 'subscription.id', ids))
    .where('subscription.status', '=', 'ACTIVE')
    .orderBy('subscription.id')
    .orderBy('secret.created_at', 'desc')
    .orderBy('secret.id')
    .select((row) => [
      'subscription.id',
      'subscription.instance_integration_id',
      'subscription.url',
      'subscription.failing_since',
      'subscription.updated_at',
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

/** One search per subscription: the index of all running attempts may have many dead entries. */
const runningIn = (now: number) => (row: ExpressionBuilder<Schema, 'subscriptions'>) =>
  row.fn
    .sum(
      row
        .selectFrom('deliveries')
        .whereRef('subscription_id', '=', 'subscriptions.id')
        .where('lease_until', '>', now)
        .select(({ fn }) => fn.countAll().as('count')),
    )
    .as('count');

const runningToFailing = plannedStatement((db, { now }: { now: number }) =>
  db.selectFrom('subscriptions').where('failing_since', 'is not', null).select(runningIn(now)),
);

const runningOf = plannedStatement((db, { ids, now }: { ids: string; now: number }) =>
  db
    .selectFrom('subscriptions')
    .where(inList(db, 'instance_integration_id', ids))
    .groupBy('instance_integration_id')
    .select('instance_integration_id as id')
    .select(runningIn(now)),
);

/** SQLite only. */
const dueFirst = keptStatement((db, { id, after, limit }: { id: string; after: number; limit: number }) =>
  db
    .selectFrom('deliveries')
    .where(isPending(db))
    .where('subscription_id', '=', id)
    .where('attempts_begun', '=', 0)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .select('seq'),
);

/**
 * PostgreSQL only: one statement for all costs a fraction of one for each. It skips
 * subscriptions that other claims have locked; a transaction can take its own locks again.
 */
const dueFirstOfAll = keptStatement(
  (db, { wanted }: { wanted: string }) => sql<{ id: string; seq: number }>`
    select wanted.id, due.seq
    from (
      select id, "after", "limit", ${triesLock(sql.ref('id'))} as free
      from json_to_recordset(${wanted}::json) as given(id text, "after" bigint, "limit" bigint)
    ) as wanted
    cross join lateral (
      select seq from deliveries
      where wanted.free and ${isPending(db)} and subscription_id = wanted.id and attempts_begun = 0
        and seq > wanted."after"
      order by subscription_id, attempts_begun, seq limit wanted."limit" for update skip locked
    ) as due
    order by due.seq
  `,
);

type LaterSearch = { id: string } & Record<'from' | 'now' | 'limit', number>;

const dueLater = plannedStatement((db, { id, from, now, limit }: LaterSearch) => {
  const query = db
    .selectFrom('deliveries')
    .where('subscription_id', '=', id)
    .where(WAITS_FOR_LATER)
    .where(CLAIMABLE_AT, '<=', now)
    .orderBy(CLAIMABLE_AT)
    .orderBy('seq')
    .limit(limit)
    .select('seq');
  return claimed(db, isPostgres(db) ? query.where(CLAIMABLE_AT, '>=', from) : query);
});

/** Deliveries of a disabled or deleted subscription are held or cancelled gradually, and not sent. */
const IS_TO_ACTIVE = sql<boolean>`(select status from subscriptions where subscriptions.id = deliveries.subscription_id) = 'ACTIVE'`;

/** One statement for all: SQLite takes several times as long with one per subscription. */
const beginFirst = keptStatement((db, values: { seqs: string; now: number; leaseUntil: number }) =>
  beginning(db, values.seqs)
    .set({ attempts_begun: 1, attempt_started_at: values.now, lease_until: values.leaseUntil })
    .where('attempts_begun', '=', 0),
);

/** Separate, because it writes columns that first attempts do not use. */
const beginLater = keptStatement((db, values: { seqs: string; now: number; leaseUntil: number }) =>
  beginning(db, values.seqs)
    .set((delivery) => ({
      attempts_begun: delivery('attempts_begun', '+', 1),
      attempt_started_at: values.now,
      lease_until: values.leaseUntil,
      next_attempt_at: null,
      grace_ms: 0,
    }))
    .where('attempts_begun', '<', MAX_ATTEMPTS)
    .where('next_attempt_at', 'is not', null)
    .where(CLAIMABLE_AT, '<=', values.now)
    .where('lease_until', 'is', null),
);

function beginning(db: Writer, seqs: string) {
  const query = db
    .updateTable('deliveries')
    .where(inNumbers(db, 'seq', seqs))
    .where(IS_PENDING_ITSELF)
    .returning(['seq', 'id', 'origin', 'attempts_begun as number'])
    .returning(['event_seq as eventSeq', 'created_at as createdAt']);
  // On SQLite there is no concurrent disabling.
  return isPostgres(db) ? query.where(IS_TO_ACTIVE) : query;
}

/** A later attempt is due again now. Deliveries that were closed meanwhile stay closed. */
const takeBack = keptPosted((db, { seqs, begunAt }: { seqs: string; begunAt: number }) =>
  db
    .updateTable('deliveries')
    .set((delivery) => ({
      attempts_begun: delivery('attempts_begun', '-', 1),
      attempt_started_at: null,
      lease_until: null,
      next_attempt_at: sql<
        number | null
      >`case when attempts_begun > 1 and status = 'PENDING' then cast(${begunAt} as bigint) end`,
    }))
    .where(inNumbers(db, 'seq', seqs))
    .where('attempts_begun', '>', 0)
    .where('attempt_started_at', '=', begunAt),
);

const events = keptStatement((db, { seqs }: { seqs: string }) =>
  db
    .selectFrom('events')
    .where(inQuery(db, 'seq', sql`(select event_seq from deliveries where ${inNumbers(db, 'seq', seqs)})`))
    .select([
      'seq',
      'id',
      'type',
      'occurred_at as occurredAt',
      'sequence',
      'is_test as isTest',
      'request_id as requestId',
      'traceparent',
      'instance_id as instanceId',
      'client_id as clientId',
      'entity_type as entityType',
      'entity_id as entityId',
      'data',
    ]),
);

export function claiming(db: Writer, now: number, looks = new DueLooks(db)): ClaimChanges {
  return {
    // On SQLite there is no other claim.
    claimAlone: async (ids) => {
      if (!isPostgres(db) || ids.length === 0) {
        return [...ids];
      }
      // Sent at once: what the caller asks after the locks must come after them.
      const [own] = await Promise.all([tryLock(db, ids), looks.prepare(db)]);
      return own;
    },
    awaitClaim: async (id) => isPostgres(db) && (await waitFor(db, id)),
    claimFailingAlone: async () => !isPostgres(db) || (await tryLockFailing(db)),
    dueSubscriptions: (after, limit) => looks.round(db, after, now, limit),
    receivers: async (ids) => toReceivers((await receivers(db, { ids: JSON.stringify(ids), now })).rows),
    runningToFailing: async () => Number((await runningToFailing(db, { now })).rows[0]?.count ?? 0),
    runningOf: async (ids) => {
      const { rows } = await runningOf(db, { ids: JSON.stringify(ids), now });
      return new Map(rows.map(({ id, count }) => [id as InstanceIntegrationId, Number(count)]));
    },
    dueFirst: (wanted) =>
      firstOf(
        db,
        wanted.map((one) => ({ ...one, after: Math.max(one.after, looks.placeOf(one.id).first - 1) })),
      ),
    dueLater: async (id, limit) => {
      const place = looks.placeOf(id);
      const { rows } = await dueLater(db, { id, from: place.later ?? 0, now, limit });
      if (rows.length === 0) {
        looks.noLaterFrom(id, place, now);
      }
      return rows.map(({ seq }) => seq);
    },
    begin: async (first, later, leaseUntil) => {
      const begun = await Promise.all([
        first.length > 0 && beginFirst(db, { seqs: JSON.stringify(first), now, leaseUntil }),
        later.length > 0 && beginLater(db, { seqs: JSON.stringify(later), now, leaseUntil }),
      ]);
      return begun.flatMap((one) => (one ? (one.rows as BegunDelivery[]) : []));
    },
    takeBack: (seqs, begunAt) => takeBack(db, { seqs: JSON.stringify(seqs), begunAt }),
    withCommit: (answers) => withCommit(db, answers),
    eventsOf: async (seqs) =>
      seqs.length === 0 ? [] : ((await events(db, { seqs: JSON.stringify(seqs) })).rows as SentEvent[]),
  };
}

async function firstOf(
  db: Writer,
  wanted: readonly WantedFirst[],
): Promise<ReadonlyMap<SubscriptionId, number[]>> {
  const found = new Map<SubscriptionId, number[]>(wanted.map(({ id }) => [id, []]));
  if (!isPostgres(db)) {
    for (const { id, after, limit } of wanted) {
      found.set(
        id,
        (await dueFirst(db, { id, after, limit })).rows.map(({ seq }) => seq),
      );
    }
  } else if (wanted.length > 0) {
    for (const { id, seq } of (await dueFirstOfAll(db, { wanted: JSON.stringify(wanted) })).rows) {
      found.get(id as SubscriptionId)?.push(seq);
    }
  }
  return found;
}

/** A subscription has one row per secret, in sequence. */
function toReceivers(rows: Awaited<ReturnType<typeof receivers>>['rows']): Receiver[] {
  const found = new Map<string, Receiver & { secrets: Receiver['secrets'][number][] }>();
  for (const row of rows) {
    const receiver = found.get(row.id) ?? {
      id: row.id as SubscriptionId,
      instanceIntegrationId: row.instance_integration_id as InstanceIntegrationId,
      url: row.url,
      failingSince: row.failing_since,
      updatedAt: row.updated_at,
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
