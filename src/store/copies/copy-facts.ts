import { sql } from 'kysely';
import type { Reader } from '../database.js';
import { executedMigrations, RESTORE_MARK } from '../migrate.js';

/** The type of the audit record that `settleCopy` writes. */
export const RESTORED_TYPE = 'database.restored';
/** Not copied. A replica does not have the rows of `call_counts`, which is unlogged. */
const NOT_COPIED: readonly string[] = [RESTORE_MARK, 'call_counts'];
/** The actor of what a restore changes. */
export const RESTORER = { type: 'command', id: 'restore' };

/** The database of a copy or a list, and its newest change. */
export interface Origin {
  environment: 'live' | 'demo';
  /** When the environment was created: the same in all copies of one database. */
  environmentMadeAt: number;
  /** The time of the newest event or audit record. Backups and restores do not count as changes. */
  changedAt: number;
}

/** The origin of a copy, and the number of its rows. */
export interface CopyFacts extends Origin {
  migrations: string[];
  /** The ids of the encryption keys that the database needs, newest first. */
  encryptionKeys: string[];
  /** Row counts by table. */
  rows: Record<string, number>;
}

/** Clocks of the service are apart by less: a later time comes from a clock that was wrong. */
const MOST_AHEAD_MS = 3_600_000;

/** The latest time of a change that counts for what is read now. */
export function latestChange(now: number): number {
  return now + MOST_AHEAD_MS;
}

/** Needs a consistent view: a copy, or one transaction. Changes after `until` do not count. */
export async function factsOf(reader: Reader, until: number): Promise<CopyFacts> {
  const keys = await reader
    .selectFrom('encryption_keys')
    .where('retired_at', 'is', null)
    .orderBy('position', 'desc')
    .select('id')
    .execute();
  return {
    ...(await originOf(reader, until)),
    migrations: (await executedMigrations(reader)).sort(),
    encryptionKeys: keys.map(({ id }) => id),
    rows: await rowsOf(reader),
  };
}

/** Reads the tables of the environment, the audit log and the events only: others may be damaged. */
export async function originOf(reader: Reader, until: number): Promise<Origin> {
  const environment = await reader.selectFrom('environment').selectAll().executeTakeFirstOrThrow();
  return {
    environment: environment.name,
    environmentMadeAt: Number(environment.created_at),
    changedAt: await lastChange(reader, until),
  };
}

/**
 * An index of each table gives its newest time, without a read of all rows. Times after `until` come from a
 * clock that was ahead: if they counted, no list would show a newer change until that time has passed.
 */
async function lastChange(reader: Reader, until: number): Promise<number> {
  const { rows } = await sql<{ time: number | null }>`
    select max(created_at) as time from audit_events where created_at <= ${until}
    and type not like 'database.%' and not (actor_type = ${RESTORER.type} and actor_id = ${RESTORER.id})
    union all select max(occurred_at) from events where occurred_at <= ${until}
    union all select created_at from environment where created_at <= ${until}
  `.execute(reader);
  return Math.max(...rows.map(({ time }) => Number(time)));
}

async function rowsOf(reader: Reader): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of (await tablesOf(reader)).filter((name) => !NOT_COPIED.includes(name))) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
      reader,
    );
    counts[table] = Number(rows[0]?.count);
  }
  return counts;
}

/** The tables of the service, sorted; excludes other schemas of a PostgreSQL database. */
export async function tablesOf(reader: Reader): Promise<string[]> {
  const tables = await reader.introspection.getTables({ withInternalKyselyTables: true });
  const schemas = new Set(tables.map(({ schema }) => schema));
  const own = schemas.has(undefined) || schemas.size === 0 ? undefined : await currentSchema(reader);
  return tables
    .filter(({ schema, isView }) => schema === own && !isView)
    .map(({ name }) => name)
    .sort();
}

async function currentSchema(reader: Reader): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(reader);
  return rows[0]?.name;
}
