import { type Kysely, Migrator } from 'kysely';
import { migrations } from './migrations/index.js';
import type { Schema } from './schema.js';
import { databaseReasonOf, mayPass, StoreError } from './store-error.js';

/** A table that exists in a PostgreSQL database while `integration restore` fills it. */
export const RESTORE_MARK = 'restore_under_way';
/** The same for `integration migrate-store`. */
export const MOVE_MARK = 'move_under_way';

/** Migrates the database to this version; refuses one of a newer version. */
export async function migrateToLatest(db: Kysely<Schema>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  refuseNewer(driftOf(await executedMigrations(db)));
  const { error } = await migrator.migrateToLatest();
  if (error) {
    const reason = databaseReasonOf(error);
    throw new StoreError(`The database cannot be brought to this version of the service: ${reason}.`, {
      cause: error,
      mayPass: mayPass(error),
    });
  }
}

export interface SchemaDrift {
  missing: string[];
  newer: string[];
}

/** How a migrated database differs from this version, for example after a newer node has migrated it. */
export async function schemaDrift(db: Kysely<Schema>): Promise<SchemaDrift> {
  return driftOf(await migrationNames(db));
}

/** Migrations that this version does not know: a newer version of the service has them. */
export function unknownMigrations(names: readonly string[]): string[] {
  return driftOf(names).newer;
}

function refuseNewer({ newer }: SchemaDrift): void {
  if (newer.length > 0) {
    const names = newer.join(', ');
    throw new StoreError(
      `The database was last used by a newer version of the service (it has ${names}). Start that version, or restore a backup made before it.`,
    );
  }
}

/** A database that a command fills or has not filled completely. */
export async function refuseIncomplete(db: Kysely<Schema>): Promise<void> {
  const names = (await db.introspection.getTables()).map(({ name }) => name);
  if (names.includes(RESTORE_MARK)) {
    throw new StoreError(
      'A restore into this database is not complete. If none is running, create a new database and run `integration restore` again.',
    );
  }
  if (names.includes(MOVE_MARK)) {
    throw new StoreError(
      'The move of a SQLite database into this database is not complete. If none is running, run `integration migrate-store` again, or unset DATABASE_URL to start on SQLite.',
    );
  }
}

/** For readers, which may not migrate. */
export async function refuseUnlessMigrated(db: Kysely<Schema>): Promise<void> {
  await refuseIncomplete(db);
  const drift = driftOf(await executedMigrations(db));
  refuseNewer(drift);
  const { missing } = drift;
  if (missing.length > 0) {
    throw new StoreError(
      `The database was last used by an older version of the service (it lacks ${missing.join(', ')}). Start this version first.`,
    );
  }
}

function driftOf(executed: readonly string[]): SchemaDrift {
  return {
    missing: Object.keys(migrations).filter((name) => !executed.includes(name)),
    newer: executed.filter((name) => !(name in migrations)),
  };
}

export async function executedMigrations(db: Kysely<Schema>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  return tables.some(({ name }) => name === 'kysely_migration') ? migrationNames(db) : [];
}

async function migrationNames(db: Kysely<Schema>): Promise<string[]> {
  const executed = await (db as unknown as Kysely<{ kysely_migration: { name: string } }>)
    .selectFrom('kysely_migration')
    .select('name')
    .execute();
  return executed.map(({ name }) => name);
}
