import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ExpiringKind, PurgeStore } from '../../domain/maintenance/purge.js';
import type { Database, Reader } from '../database.js';
import type { Schema } from '../schema.js';
import { auditRemoval, type OnSpoiled } from './operator/audit-purge.js';
import { changedOne, changedRows, keptStatement } from './statements/kept-statement.js';
import { DELIVERIES, deliveryRemoval, EVENTS, eventRemoval, type Removal } from './webhooks/purge.js';

interface ExpiringRows {
  table: keyof Schema;
  key: readonly string[];
  /** When a row expires; the first of several. */
  overAt: readonly string[];
  /** Exempts a row, by the name `aged`. */
  unless?: RawBuilder<SqlBool>;
}

const EXPIRING: Record<ExpiringKind, ExpiringRows> = {
  session: { table: 'sessions', key: ['id'], overAt: ['expires_at'] },
  idle_session: { table: 'sessions', key: ['id'], overAt: ['last_seen_at'] },
  interaction: { table: 'finished_interactions', key: ['id'], overAt: ['expires_at'] },
  authorization_code: { table: 'authorization_codes', key: ['hash'], overAt: ['expires_at'] },
  code_minute: { table: 'code_minutes', key: ['minute'], overAt: ['expires_at'] },
  grant: { table: 'grants', key: ['id'], overAt: ['expires_at'] },
  link: { table: 'account_links', key: ['token_hash'], overAt: ['expires_at', 'ended_at'] },
  email_change: { table: 'email_changes', key: ['account_id', 'asker'], overAt: ['expires_at'] },
  account_notice: { table: 'account_notices', key: ['id'], overAt: ['created_at'] },
  integration_notice: { table: 'integration_notices', key: ['id'], overAt: ['created_at'] },
  attempt_count: { table: 'attempt_counts', key: ['subject'], overAt: ['ends_at'] },
  idempotency_key: { table: 'idempotency_keys', key: ['owner_id', 'method', 'key'], overAt: ['created_at'] },
  signing_key: { table: 'signing_keys', key: ['kid'], overAt: ['retired_at'] },
  api_key: { table: 'api_keys', key: ['id'], overAt: ['revoked_at', 'expires_at'] },
  service_token: { table: 'service_tokens', key: ['id'], overAt: ['revoked_at', 'expires_at'] },
  application_secret: { table: 'application_secrets', key: ['id'], overAt: ['expires_at'] },
  retry_batch: {
    table: 'retry_batches',
    key: ['id'],
    overAt: ['created_at'],
    unless: sql`exists (
      select 1 from deliveries where deliveries.retry_batch_id = aged.id and deliveries.status = 'PENDING'
    )`,
  },
  subscription: {
    table: 'subscriptions',
    key: ['id'],
    overAt: ['deleted_at'],
    unless: sql`exists (select 1 from deliveries where deliveries.subscription_id = aged.id)`,
  },
  subscription_secret: { table: 'subscription_secrets', key: ['id'], overAt: ['expires_at'] },
  delivery: { ...DELIVERIES, key: ['seq'] },
  event: { ...EVENTS, key: ['seq'] },
  audit_event: { table: 'audit_events', key: ['id'], overAt: ['created_at'] },
};

const JOB = 'purge';

interface Beginning {
  run: string;
  now: number;
  until: number;
  /** A run that ended later prevents this one. */
  endedBy: number;
}

/** Ignores times after those of a new run: that run began before the clock was set back. */
const beginning = keptStatement(
  (_, { run, now, until, endedBy }: Beginning) => sql`
    insert into maintenance_runs as present (job, run, ends_at) values (${JOB}, ${run}, ${until})
    on conflict (job) do update set run = excluded.run, ends_at = excluded.ends_at
    where present.run = ${run} or (
      (present.ends_at <= ${now} or present.ends_at > ${until})
      and (present.ended_at is null or present.ended_at <= ${endedBy} or present.ended_at > ${until})
    )
  `,
);

/** How many old rows are read to find one that may be removed. */
const OLD_ROWS_LOOKED_AT = 100;

export function purgeStore(database: Database, onSpoiledAudit?: OnSpoiled): PurgeStore {
  /** Of mass data. */
  const ownWays: Partial<Record<ExpiringKind, Removal>> = {
    delivery: deliveryRemoval(database),
    event: eventRemoval(database),
    audit_event: auditRemoval(database, onSpoiledAudit),
  };
  return {
    remove: (kind, overBefore, limit) =>
      ownWays[kind]?.(overBefore, limit) ??
      database.write(async (writer) => {
        const removal = removalOf(EXPIRING[kind], overBefore, limit);
        return changedRows(await removal.execute(writer));
      }),
    begin: (run, now, until, endedBy = until) =>
      database.write(async (writer) => changedOne(await beginning(writer, { run, now, until, endedBy }))),
    end: async (run, now) => {
      await database.write((writer) =>
        writer
          .updateTable('maintenance_runs')
          .set({ ends_at: 0, ended_at: now })
          .where('job', '=', JOB)
          .where('run', '=', run)
          .execute(),
      );
    },
    oldest: (overBefore) => oldestExpired(database.reader, overBefore),
  };
}

/** Reads few rows of each kind, by index. */
export async function oldestExpired(
  reader: Reader,
  overBefore: Record<ExpiringKind, number>,
): Promise<Partial<Record<ExpiringKind, number>>> {
  const ends = Object.entries(EXPIRING).flatMap(([kind, rows]) =>
    rows.overAt.map((column) => oldestOf(kind as ExpiringKind, rows, column, overBefore)),
  );
  const { rows } = await sql<{ kind: ExpiringKind; over_at: number }>`
    ${sql.join(ends, sql` union all `)}
  `.execute(reader);
  return Object.fromEntries(
    rows.sort((one, other) => other.over_at - one.over_at).map((row) => [row.kind, row.over_at]),
  );
}

/** The expiry of the oldest removable row, among the first rows past their retention. */
function oldestOf(
  kind: ExpiringKind,
  { table, unless }: ExpiringRows,
  column: string,
  overBefore: Record<ExpiringKind, number>,
): RawBuilder<unknown> {
  const end = sql.ref(column);
  const rows = sql`select * from ${sql.table(table)} where ${end} < ${overBefore[kind]} order by ${end}`;
  const lookedAt = sql.lit(unless ? OLD_ROWS_LOOKED_AT : 1);
  return sql`
    select ${sql.lit(kind)} as kind, over_at from (
      select ${end} as over_at from (${rows} limit ${lookedAt}) as aged
      ${unless ? sql`where not ${unless}` : sql``}
      order by ${end} limit 1
    ) as oldest
  `;
}

/** States the condition twice: after waiting for a row, PostgreSQL checks only the outer one again. */
function removalOf({ table, key, overAt, unless }: ExpiringRows, overBefore: number, limit: number) {
  const anyEnd = sql.join(
    overAt.map((column): RawBuilder<SqlBool> => sql`${sql.ref(column)} < ${overBefore}`),
    sql` or `,
  );
  const isOver = unless ? sql`(${anyEnd}) and not ${unless}` : sql`(${anyEnd})`;
  const columns = sql.join(key.map((column) => sql.ref(column)));
  return sql`
    delete from ${sql.table(table)} as aged
    where ${isOver} and (${columns}) in (select ${columns} from ${sql.table(table)} as aged where ${isOver} limit ${limit})
  `;
}
