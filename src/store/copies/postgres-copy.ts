import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import type { Reader } from '../database.js';
import { RESTORE_MARK } from '../migrate.js';
import { reading } from '../recorded.js';
import { CopyError, StoreError } from '../store-error.js';
import { tablesOf } from './copy-facts.js';

type Environment = Readonly<Record<string, string | undefined>>;

const OWNER_ONLY = 0o600;
/** The reason of a failure is at the end of the output of pg_dump and pg_restore. */
const MOST_CHARACTERS_SHOWN = 600;
/** Libpq accepts `sslpassword` only as an argument, so it is removed; the service does not use it either. */
const SECRET_PARAMETERS = ['password', 'sslpassword'];
const KEEP = ['--no-owner', '--no-privileges'];
/** A replica does not have the rows of unlogged tables. */
const DUMPED = ['--format=custom', '--no-unlogged-table-data'];

/** Dumps the database, and runs `read` on the same snapshot. */
export async function dumpPostgres<T>(
  url: string,
  target: string,
  environment: Environment,
  read: (reader: Reader) => Promise<T>,
): Promise<T> {
  const dump = async (transaction: Reader) => {
    const { rows } = await sql<{ name: string }>`select pg_export_snapshot() as name`.execute(transaction);
    const found = await read(transaction);
    const snapshot = [`--snapshot=${rows[0]?.name}`, `--file=${target}`];
    await run('pg_dump', [...DUMPED, ...KEEP, ...snapshot], url, environment);
    chmodSync(target, OWNER_ONLY);
    return found;
  };
  return reading({ databaseUrl: url }, (reader) =>
    reader.transaction().setIsolationLevel('repeatable read').execute(dump),
  );
}

/**
 * Marks an empty database, so that no service starts on it before the restore is complete. An interrupted
 * restore can be repeated if it left only the mark.
 */
export async function markEmptyPostgres(db: Reader): Promise<void> {
  await assertEmpty(db);
  await db.schema.createTable(RESTORE_MARK).ifNotExists().addColumn('since', 'bigint').execute();
}

export async function refuseFullPostgres(url: string): Promise<void> {
  await reading({ databaseUrl: url }, assertEmpty);
}

async function assertEmpty(db: Reader): Promise<void> {
  const tables = (await tablesOf(db)).filter((name) => name !== RESTORE_MARK);
  if (tables.length > 0) {
    throw new StoreError(
      `The database of DATABASE_URL is not empty: it contains the table ${tables[0]}. Restore into a new database: createdb …`,
    );
  }
}

/** The last step of a restore: the service may start from here on. */
export async function unmarkPostgres(db: Reader): Promise<void> {
  await db.schema.dropTable(RESTORE_MARK).execute();
}

/** Restores the dump in one transaction. */
export async function undumpPostgres(url: string, file: string, environment: Environment): Promise<void> {
  await run('pg_restore', ['--exit-on-error', '--single-transaction', ...KEEP, file], url, environment);
}

/** The tool gets the password in its environment, because other users can read its arguments. */
async function run(tool: string, args: string[], url: string, environment: Environment): Promise<void> {
  const address = new URL(url);
  const password = address.searchParams.get('password') ?? decodeURIComponent(address.password);
  address.password = '';
  // Not with `searchParams`, which writes spaces as plus signs; libpq does not understand these.
  address.search = address.search.slice(1).split('&').filter(isShown).join('&');
  const child = spawn(tool, [...args, '--no-password', `--dbname=${address}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...environment, ...(password !== '' && { PGPASSWORD: password }) },
  });
  // When a signal ends the command, its child process must end too.
  const end = () => child.kill();
  process.once('exit', end);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const output = Promise.all([ended, text(child.stderr)]).finally(() => process.off('exit', end));
  const [code, said] = await output.catch((error: Error) => {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? new StoreError(
          `${tool} is not on the PATH. Install the PostgreSQL client programs (postgresql-client), at least as new as the server.`,
          { cause: error },
        )
      : error;
  });
  if (code !== 0) {
    const reason = said.trim().replaceAll(/\s*\n\s*/g, ' ');
    const remedy = /version mismatch/.test(reason)
      ? '. Put PostgreSQL client programs that are at least as new as the server first on the PATH'
      : '';
    throw new CopyError(
      `${tool} failed with exit code ${code}: ${reason.slice(-MOST_CHARACTERS_SHOWN) || 'it gave no reason'}${remedy}`,
    );
  }
}

function isShown(parameter: string): boolean {
  const [name = ''] = parameter.split('=');
  return !SECRET_PARAMETERS.includes(decodeURIComponent(name));
}
