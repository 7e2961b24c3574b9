import { type Kysely, Migrator } from 'kysely';
import { migrations } from './migrations/index.js';
import { asMigration, type Step } from './migrations/step.js';
import type { Schema } from './schema.js';
import { databaseReasonOf, mayPass, StoreError } from './store-error.js';

/** A table that exists in a PostgreSQL database while `integration restore` fills it. */
export const RESTORE_MARK = 'restore_under_way';
/** The same for `integration migrate-store`. */
export const MOVE_MARK = 'move_under_way';

/** Leaves a database of a newer version as it is, and refuses one that this version can no longer serve. */
export async function migrateToLatest(db: Kysely<Schema>): Promise<void> {
  if (await hasNewer(db)) {
    return;
  }
  const { error } = await migratorOf(db, migrations).migrateToLatest();
  // A newer node may have migrated it since the first look.
  if (error && !(await hasNewer(db))) {
    if (error instanceof StoreError) {
      throw error;
    }
    const reason = databaseReasonOf(error);
    throw new StoreError(`The database cannot be migrated to this version of the service: ${reason}.`, {
      cause: error,
      mayPass: mayPass(error),
    });
  }
}

export function migratorOf(db: Kysely<Schema>, steps: Record<string, Step>): Migrator {
  const named = Object.entries(steps).map(([name, step]) => [name, asMigration(step)]);
  const provider = { getMigrations: async () => Object.fromEntries(named) };
  // Kysely takes the order in which steps ran from the clock, which may have been set back between them.
  return new Migrator({ db, provider, allowUnorderedMigrations: true });
}

/** How a database differs from this version. */
export interface SchemaDrift {
  missing: string[];
  /** Those of a newer version. */
  newer: string[];
  /** The newer ones without which a node must not serve. */
  required: string[];
}

/** Of a migrated database, for example after a newer node has migrated it again. */
export async function schemaDrift(db: Kysely<Schema>): Promise<SchemaDrift> {
  return driftOf(db, await migrationNames(db));
}

async function driftOf(db: Kysely<Schema>, executed: readonly string[]): Promise<SchemaDrift> {
  const missing = Object.keys(migrations).filter((name) => !executed.includes(name));
  const newer = unknownMigrations(executed);
  // A migration of a newer version may build on one that is missing here.
  if (missing.length > 0 || newer.length === 0) {
    return { missing, newer, required: newer };
  }
  return { missing, newer, required: await unknownRequired(db) };
}

async function unknownRequired(db: Kysely<Schema>): Promise<string[]> {
  const rows = await db.selectFrom('required_migrations').select('name').execute();
  return unknownMigrations(rows.map(({ name }) => name));
}

/** For a node that has started. */
export async function refuseOutdated(db: Kysely<Schema>): Promise<void> {
  refuseNewer(await unknownRequired(db));
}

/** Migrations that this version does not know: a newer version of the service has them. */
export function unknownMigrations(names: readonly string[]): string[] {
  return names.filter((name) => !(name in migrations));
}

/** Whether a newer version has migrated the database, which this version can still serve. */
async function hasNewer(db: Kysely<Schema>): Promise<boolean> {
  const { newer, required } = await driftOf(db, await executedMigrations(db));
  refuseNewer(required);
  return newer.length > 0;
}

export function refuseNewer(names: readonly string[]): void {
  if (names.length > 0) {
    throw new StoreError(
      `The database was migrated by a newer version of the service (it has ${names.join(', ')}). Start that version, or restore a backup made before it.`,
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
export async function refuseUnlessMigrated(
  db: Kysely<Schema>,
  remedy = 'Start this version first.',
): Promise<void> {
  await refuseIncomplete(db);
  const { missing, required } = await driftOf(db, await executedMigrations(db));
  refuseNewer(required);
  if (missing.length > 0) {
    throw new StoreError(
      `The database was migrated by an older version of the service (it lacks ${missing.join(', ')}). ${remedy}`,
    );
  }
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
