import type { Kysely } from 'kysely';
import { idType } from './id-type.js';

/** The active run of the purge, and indexes by which it finds expired rows without reading others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('maintenance_runs')
    .addColumn('job', idType(db), (column) => column.primaryKey())
    .addColumn('run', 'text', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .execute();
  for (const [table, column, name] of [
    ['api_keys', 'expires_at', 'by_end'],
    ['api_keys', 'revoked_at', 'by_revocation'],
    ['service_tokens', 'expires_at', 'by_end'],
    ['service_tokens', 'revoked_at', 'by_revocation'],
    ['signing_keys', 'retired_at', 'by_retirement'],
  ] as const) {
    await db.schema.createIndex(`${table}_${name}`).on(table).column(column).execute();
  }
}
