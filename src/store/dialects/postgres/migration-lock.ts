import { type Kysely, PostgresAdapter, sql } from 'kysely';
import type { LentConnection } from './lent-connection.js';

/** Kysely's own, so that nodes of earlier releases wait, too. */
const MIGRATION_LOCK = 3_853_314_791_062_309_107n;
const LONGEST_MIGRATION_MS = 3_600_000;

/**
 * Locks migrations for a transaction. The one that Kysely begins after the lock is, for PostgreSQL, the same.
 * Kysely's own lock belongs to a session, which a pooler in transaction mode gives to others.
 */
export class SoundAdapter extends PostgresAdapter {
  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    await lentTo(db, (connection) => connection.begin());
    await sql`set local lock_timeout = ${sql.lit(LONGEST_MIGRATION_MS)}`.execute(db);
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(db);
  }

  /** Asks nothing if the transaction has ended. */
  override releaseMigrationLock(db: Kysely<unknown>): Promise<void> {
    return lentTo(db, (connection) => connection.rollback());
  }
}

function lentTo<T>(db: Kysely<unknown>, use: (connection: LentConnection) => Promise<T>): Promise<T> {
  return db.getExecutor().provideConnection((connection) => use(connection as LentConnection));
}
