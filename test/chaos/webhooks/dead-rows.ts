import { sql } from 'kysely';
import type { SubscriptionId } from '../../../generated/ids.js';
import { LOOK_LIMITS } from '../../../src/store/adapters/webhooks/sending/due-looks.js';
import type { Database } from '../../../src/store/database.js';
import { type SendingNode, sendingRig, succeeded } from '../../store/adapters/webhooks/sending/rig.js';
import type { DatabaseUnderTest } from '../../support/databases.js';
import { openSnapshot } from '../../support/postgres/open-snapshot.js';

/** The load whose dead rows are made, on the clock of the test. */
const PER_SECOND = 300;
const ROWS_PER_STATEMENT = 1_000;
const PER_CLAIM = 64;
const SUBSCRIPTIONS = 4;
const LEASE_MS = 30_000;

/** Milliseconds for claims and results, of so many deliveries a second. */
export interface Sent {
  perSecond: number;
  claimMs: number;
  recordMs: number;
  longestClaimMs: number;
}

/** One node with subscriptions on a PostgreSQL database of its own, and deliveries by the thousand. */
export async function deadRowsRig(under: DatabaseUnderTest, lookLimits = LOOK_LIMITS) {
  const place = await under.newPlace();
  const rig = await sendingRig({ ...under, openMigrated: () => under.openMigrated(place) }, {}, lookLimits);
  const subscriptions: SubscriptionId[] = [];
  for (let count = 0; count < SUBSCRIPTIONS; count += 1) {
    subscriptions.push(await rig.subscribe());
  }
  await rig.happen();
  await drain(rig);
  return {
    ...rig,
    subscriptions,
    /** Due deliveries, distributed over the subscriptions. */
    insert: (count: number) => insert(rig, subscriptions, count),
    drain: () => drain(rig),
    openSnapshot: () => openSnapshot(place.databaseUrl as string),
    /**
     * Delivered deliveries, by three statements for each thousand: insert, begin, deliver. Each row leaves
     * two dead versions, as sending does.
     */
    deliver: async (count: number) => {
      for (let left = count; left > 0; left -= ROWS_PER_STATEMENT) {
        await deliver(rig, subscriptions, Math.min(left, ROWS_PER_STATEMENT));
      }
    },
    send: (count: number) => send(rig, subscriptions, count),
    sizes: () => sizesIn(rig.database),
  };
}

async function drain(rig: SendingNode): Promise<void> {
  const { deliveries } = await rig.claim();
  await rig.record(...deliveries.map(({ id }) => succeeded(id)));
}

type Subscriptions = readonly SubscriptionId[];

/** Events and deliveries like the first. Returns the place of the last delivery before them. */
async function insert({ database, clock }: SendingNode, to: Subscriptions, count: number): Promise<number> {
  const { rows } = await sql<{ before: unknown }>`select max(seq) as before from deliveries`.execute(
    database.reader,
  );
  await sql`
    with recorded as (
      insert into events (id, type, occurred_at, instance_id, client_id, entity_type, entity_id, data, is_test, sequence)
      select 'evt_' || replace(gen_random_uuid()::text, '-', ''), type, ${clock.now()}, instance_id, client_id,
        entity_type, entity_id, data, is_test, ${clock.now()}
      from (select * from events order by seq limit 1) as first, generate_series(1, ${count}::int)
      returning seq, id, type, occurred_at
    )
    insert into deliveries
      (id, subscription_id, event_seq, event_id, event_type, origin, status, attempts_begun, created_at)
    select 'whd_' || replace(gen_random_uuid()::text, '-', ''),
      (${sql.val(to)}::text[])[1 + seq % ${to.length}::int], seq, id, type, 'EVENT', 'PENDING', 0, occurred_at
    from recorded
  `.execute(database.patient);
  return Number(rows[0]?.before);
}

async function deliver(node: SendingNode, to: Subscriptions, count: number): Promise<void> {
  const { database, clock } = node;
  const before = await insert(node, to, count);
  const now = clock.now();
  await sql`
    update deliveries set attempts_begun = 1, attempt_started_at = ${now}, lease_until = ${now + LEASE_MS}
    where seq > ${before}
  `.execute(database.patient);
  await sql`
    update deliveries set status = 'DELIVERED', attempt_started_at = null, lease_until = null, ended_at = ${now}
    where seq > ${before}
  `.execute(database.patient);
  clock.advance(Math.round((count / PER_SECOND) * 1_000));
}

/** Claims and results of due deliveries, as fast as they go. Their insertion does not count. */
async function send(node: SendingNode, to: Subscriptions, count: number): Promise<Sent> {
  const sent = { claimMs: 0, recordMs: 0, longestClaimMs: 0 };
  for (let left = count; left > 0; left -= PER_CLAIM) {
    await insert(node, to, PER_CLAIM);
    const startedAt = performance.now();
    const { deliveries } = await node.claim({ freeSlots: PER_CLAIM });
    const claimedAt = performance.now();
    await node.record(...deliveries.map(({ id }) => succeeded(id)));
    const tookMs = claimedAt - startedAt;
    sent.claimMs += tookMs;
    sent.longestClaimMs = Math.max(sent.longestClaimMs, tookMs);
    sent.recordMs += performance.now() - claimedAt;
    if (deliveries.length !== PER_CLAIM) {
      throw new Error(`A claim found ${deliveries.length} of ${PER_CLAIM} due deliveries.`);
    }
    node.clock.advance(Math.round((PER_CLAIM / PER_SECOND) * 1_000));
  }
  return { ...sent, perSecond: count / ((sent.claimMs + sent.recordMs) / 1_000) };
}

async function sizesIn({ reader }: Database): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; bytes: unknown }>`
    select relname as name, pg_relation_size(oid) as bytes from pg_class
    where relname = 'deliveries' or relname like 'deliveries\\_%' and relkind = 'i' order by 1
  `.execute(reader);
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}
