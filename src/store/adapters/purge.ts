import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ExpiringKind, PurgeStore } from '../../domain/maintenance/purge.js';
import type { Database } from '../database.js';
import type { Schema } from '../schema.js';
import { auditRemoval, type OnSpoiled } from './operator/audit-purge.js';
import { deliveryRemoval, eventRemoval, type Removal } from './webhooks/purge.js';

interface ExpiringRows {
  table: keyof Schema;
  key: readonly string[];
  /** When a row expires; the first of several. */
  overAt: readonly string[];
  /** Exempts a row. */
  unless?: RawBuilder<SqlBool>;
}

/** Mass data with special removals. */
type OwnWay = 'delivery' | 'event' | 'audit_event';

const EXPIRING: Record<Exclude<ExpiringKind, OwnWay>, ExpiringRows> = {
  session: { table: 'sessions', key: ['id'], overAt: ['expires_at'] },
  idle_session: { table: 'sessions', key: ['id'], overAt: ['last_seen_at'] },
  interaction: { table: 'finished_interactions', key: ['id'], overAt: ['expires_at'] },
  authorization_code: { table: 'authorization_codes', key: ['hash'], overAt: ['expires_at'] },
  code_minute: { table: 'code_minutes', key: ['minute'], overAt: ['expires_at'] },
  grant: { table: 'grants', key: ['id'], overAt: ['expires_at'] },
  link: { table: 'account_links', key: ['token_hash'], overAt: ['expires_at', 'ended_at'] },
  email_change: { table: 'email_changes', key: ['account_id', 'asker'], overAt: ['expires_at'] },
  account_notice: { table: 'account_notices', key: ['id'], overAt: ['created_at'] },
  attempt_count: { table: 'attempt_counts', key: ['subject'], overAt: ['ends_at'] },
  idempotency_key: { table: 'idempotency_keys', key: ['owner_id', 'method', 'key'], overAt: ['created_at'] },
  signing_key: { table: 'signing_keys', key: ['kid'], overAt: ['retired_at'] },
  api_key: { table: 'api_keys', key: ['id'], overAt: ['revoked_at', 'expires_at'] },
  service_token: { table: 'service_tokens', key: ['id'], overAt: ['revoked_at', 'expires_at'] },
  retry_batch: {
    table: 'retry_batches',
    key: ['id'],
    overAt: ['created_at'],
    unless: sql`exists (
      select 1 from deliveries where deliveries.retry_batch_id = retry_batches.id and deliveries.status = 'PENDING'
    )`,
  },
  subscription: {
    table: 'subscriptions',
    key: ['id'],
    overAt: ['deleted_at'],
    unless: sql`exists (select 1 from deliveries where deliveries.subscription_id = subscriptions.id)`,
  },
  subscription_secret: { table: 'subscription_secrets', key: ['id'], overAt: ['expires_at'] },
};

export function purgeStore(database: Database, onSpoiledAudit?: OnSpoiled): PurgeStore {
  const ownWays: Record<OwnWay, Removal> = {
    delivery: deliveryRemoval(database),
    event: eventRemoval(database),
    audit_event: auditRemoval(database, onSpoiledAudit),
  };
  return {
    remove: (kind, overBefore, limit) =>
      kind === 'delivery' || kind === 'event' || kind === 'audit_event'
        ? ownWays[kind](overBefore, limit)
        : database.write(async (writer) => {
            const removal = removalOf(EXPIRING[kind], overBefore, limit);
            return Number((await removal.execute(writer)).numAffectedRows ?? 0);
          }),
  };
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
    delete from ${sql.table(table)}
    where ${isOver} and (${columns}) in (select ${columns} from ${sql.table(table)} where ${isOver} limit ${limit})
  `;
}
