import { sql } from 'kysely';
import type { SubscriptionId } from '../../../../../generated/ids.js';
import { newVersion } from '../../../../domain/version.js';
import type {
  DeliveryProgress,
  ReceiverHealth,
  RecordedAttempt,
  ResultChanges,
  SendingChanges,
} from '../../../../domain/webhooks/sending/sending.js';
import type { DisabledReason } from '../../../../domain/webhooks/subscriptions/subscription.js';
import { camelCased, type Tables, type Writer } from '../../../database.js';
import { postCompiled } from '../../../dialects/direct-statements.js';
import { inList, inNumbers, isPostgres } from '../../statements/dialect.js';
import { changedOne, keptPosted, keptStatement, posted } from '../../statements/kept-statement.js';
import { keptInsertion, plainWrites } from '../../statements/plain-writes.js';

export const PROGRESS = [
  'deliveries.seq',
  'deliveries.id',
  'deliveries.subscription_id as subscriptionId',
  'deliveries.status',
  'deliveries.attempts_begun as attemptsBegun',
  'deliveries.attempt_started_at as attemptStartedAt',
  'deliveries.lease_until as leaseUntil',
  'deliveries.next_attempt_at as nextAttemptAt',
  'deliveries.grace_ms as graceMs',
  'deliveries.retry_batch_id as retryBatchId',
  'deliveries.ended_at as endedAt',
] as const;

const progressOf = keptStatement((db, { ids }: { ids: string }) =>
  db
    .selectFrom('deliveries')
    .where(inList(db, 'id', ids))
    .select(PROGRESS),
);

/** In a fixed order, to avoid deadlocks. */
const heldDeliveries = keptStatement((db, { seqs }: { seqs: string }) =>
  db
    .selectFrom('deliveries')
    .where(inNumbers(db, 'seq', seqs))
    .orderBy('seq')
    .select(PROGRESS)
    .forUpdate(),
);
const heldSubscriptions = (lock: 'forKeyShare' | 'forNoKeyUpdate') =>
  keptStatement((db, { ids }: { ids: string }) =>
    db
      .selectFrom('subscriptions')
      .where(inList(db, 'id', ids))
      .orderBy('id')
      .select('id')
      [lock](),
  );
const heldTogether = heldSubscriptions('forKeyShare');
const heldAlone = heldSubscriptions('forNoKeyUpdate');

/** Writes of results hold locks for milliseconds. Only a stalled node holds them longer. */
const LONGEST_WAIT_MS = 500;

const waitingBriefly = keptPosted(
  () => sql`select set_config('lock_timeout', ${sql.lit(String(LONGEST_WAIT_MS))}, true)`,
);

const outcomeOf = keptStatement((db, { seq, number }: { seq: number; number: number }) =>
  db
    .selectFrom('delivery_attempts')
    .where('delivery_seq', '=', seq)
    .where('number', '=', number)
    .select('outcome'),
);

const attemptInsertion = keptInsertion(
  (db, rows: readonly Tables['deliveryAttempts'][]) => db.insertInto('deliveryAttempts').values(rows),
  postCompiled,
);

/** Keeps the start that the claim wrote. If the clock was set back since, the start becomes the end. */
const correction = posted((db, { deliverySeq, number, startedAt: _, ...end }: Tables['deliveryAttempts']) =>
  db
    .updateTable('deliveryAttempts')
    .set({
      ...end,
      startedAt: sql`case when started_at > ${end.endedAt} then ${end.endedAt} else started_at end`,
    })
    .where('deliverySeq', '=', deliverySeq)
    .where('number', '=', number),
);

const delivering = keptPosted((db, { seqs, now }: { seqs: string; now: number }) =>
  db
    .updateTable('deliveries')
    .set({ status: 'DELIVERED', attempt_started_at: null, lease_until: null, ended_at: now })
    .where(inNumbers(db, 'seq', seqs)),
);

const settling = posted((db, delivery: DeliveryProgress) =>
  db
    .updateTable('deliveries')
    .set({
      status: delivery.status,
      attemptStartedAt: delivery.attemptStartedAt,
      leaseUntil: delivery.leaseUntil,
      nextAttemptAt: delivery.nextAttemptAt,
      graceMs: delivery.graceMs,
      retryBatchId: delivery.retryBatchId,
      endedAt: delivery.endedAt,
    })
    .where('seq', '=', delivery.seq),
);

const healthOf = keptStatement((db, { ids }: { ids: string }) =>
  db
    .selectFrom('subscriptions')
    .where(inList(db, 'id', ids))
    .orderBy('id')
    .select([
      'id',
      'last_success_at as lastSuccessAt',
      'failing_since as failingSince',
      'updated_at as updatedAt',
    ]),
);

/**
 * Locks only the row of the subscription, in a mode that the recording of events (`for key share`) does not
 * block. A wait for events that are being recorded, or for writes that lock its deliveries, would delay the
 * results of all subscriptions. Pending deliveries are not sent; `closeAll` holds them later.
 */
const disabling = keptStatement(
  (db, row: { id: string; reason: DisabledReason; now: number; version: string }) =>
    db
      .updateTable('subscriptions')
      .set({
        status: 'DISABLED',
        disabled_reason: row.reason,
        disabled_at: row.now,
        version: row.version,
        updated_at: row.now,
      })
      .where('id', '=', row.id)
      .where('status', '=', 'ACTIVE'),
);

type HealthChanges = Pick<SendingChanges, 'healthOf' | 'noteHealth' | 'disable'>;

export function recording(db: Writer, now: number): ResultChanges & HealthChanges {
  return {
    look: async (ids) => (await progressOf(db, { ids: JSON.stringify(ids) })).rows as DeliveryProgress[],
    waitBriefly: async () => {
      if (isPostgres(db)) {
        await waitingBriefly(db, {});
      }
    },
    hold: async (deliveries, alone) =>
      // On SQLite there is no other writer.
      isPostgres(db) && deliveries.length > 0 ? hold(db, deliveries, alone) : [...deliveries],
    outcomeOf: async (seq, number) => (await outcomeOf(db, { seq, number })).rows[0]?.outcome,
    recordAttempts: async (attempts) => {
      await attemptInsertion(camelCased(db), attempts.map(toAttemptRow));
    },
    correctAttempt: (attempt) => correction(camelCased(db), toAttemptRow(attempt)),
    deliver: async (seqs) => {
      if (seqs.length > 0) {
        await delivering(db, { seqs: JSON.stringify(seqs), now });
      }
    },
    settle: (delivery) => settling(camelCased(db), delivery),
    healthOf: async (ids) => (await healthOf(db, { ids: JSON.stringify(ids) })).rows as ReceiverHealth[],
    noteHealth: ({ id, lastSuccessAt, failingSince }) =>
      plainWrites(camelCased(db), 'subscriptions').update({ id, lastSuccessAt, failingSince }),
    disable: async (id, reason) =>
      changedOne(await disabling(db, { id, reason, now, version: newVersion() })),
  };
}

async function hold(
  db: Writer,
  deliveries: readonly DeliveryProgress[],
  alone: boolean,
): Promise<DeliveryProgress[]> {
  const subscriptionIds = new Set<SubscriptionId>(deliveries.map(({ subscriptionId }) => subscriptionId));
  const [, { rows }] = await Promise.all([
    (alone ? heldAlone : heldTogether)(db, { ids: JSON.stringify([...subscriptionIds]) }),
    heldDeliveries(db, { seqs: JSON.stringify(deliveries.map(({ seq }) => seq)) }),
  ]);
  return rows as DeliveryProgress[];
}

function toAttemptRow({ responseStart, ...attempt }: RecordedAttempt): Tables['deliveryAttempts'] {
  return { ...attempt, responseStart: responseStart && Buffer.from(responseStart).toString('base64') };
}
