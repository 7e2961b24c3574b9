import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
const NAME_PARAMETER = 'application_name';
/** Another server may have other roles and tablespaces. */
const KEEP = ['--no-owner', '--no-privileges', '--no-tablespaces'];
/** A replica does not have the rows of unlogged tables. */
const DUMPED = ['--format=custom', '--no-unlogged-table-data'];
/** `server_version_num` divided by this is the release. */
const VERSIONS_OF_RELEASE = 10_000;
/** In the output of `pg_restore --list`. The service has none, and often only a superuser can create them. */
const OF_SUPERUSERS = /^\d+; \d+ \d+ (COMMENT - )?(EXTENSION|PUBLICATION|SUBSCRIPTION|EVENT TRIGGER) .*\n/gm;
const OTHER_RELEASE = /version mismatch|unrecognized configuration parameter|unsupported version/;
const OTHER_PROGRAMS =
  ". Put the PostgreSQL client programs of the server's release first on the PATH. A backup that a newer pg_dump made needs a server of the release of that pg_dump, or a newer one";

/** The `application_name` of the transaction that keeps the snapshot of a dump, and is idle until it ends. */
export const SNAPSHOT_HOLDER = 'integration backup';
/** The program, and the `application_name` of its connection; `runOn` replaces a name in the address. */
export const DUMPER = 'pg_dump';

/** Dumps the database, and runs `read` on the same snapshot. Warns of a dump that its server may refuse. */
export async function dumpPostgres<T>(
  url: string,
  target: string,
  environment: Environment,
  read: (reader: Reader) => Promise<T>,
  warn: (message: string) => void,
): Promise<T> {
  const dump = async (transaction: Reader) => {
    await sql`select set_config('application_name', ${SNAPSHOT_HOLDER}, true)`.execute(transaction);
    const { rows } = await sql<{ snapshot: string; version: string }>`
      select pg_export_snapshot() as snapshot, current_setting('server_version_num') as version
    `.execute(transaction);
    const [{ snapshot = '', version = '' } = {}] = rows;
    const found = await read(transaction);
    const args = [...DUMPED, ...KEEP, `--snapshot=${snapshot}`, `--file=${target}`];
    await runOn(url, DUMPER, args, environment);
    chmodSync(target, OWNER_ONLY);
    await warnOfRelease(Math.floor(Number(version) / VERSIONS_OF_RELEASE), environment, warn);
    return found;
  };
  return reading({ databaseUrl: url }, (reader) =>
    reader.transaction().setIsolationLevel('repeatable read').execute(dump),
  );
}

async function warnOfRelease(
  server: number,
  environment: Environment,
  warn: (message: string) => void,
): Promise<void> {
  const { output } = await ended(DUMPER, ['--version'], environment);
  const release = Number(/\(PostgreSQL\) (\d+)/.exec(output)?.[1] ?? server);
  if (release !== server) {
    warn(
      `WARNING: pg_dump is of PostgreSQL ${release}, but the server runs PostgreSQL ${server} and may refuse this backup. Restore it into a server of PostgreSQL ${release} or newer, or put the client programs of PostgreSQL ${server} first on the PATH and make another backup.`,
    );
  }
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
  const entries = await run('pg_restore', ['--list', file], environment);
  const folder = mkdtempSync(join(tmpdir(), 'integration-restore-'));
  try {
    const list = join(folder, 'list');
    writeFileSync(list, entries.replaceAll(OF_SUPERUSERS, ''));
    const args = ['--exit-on-error', '--single-transaction', ...KEEP, `--use-list=${list}`, file];
    await runOn(url, 'pg_restore', args, environment);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The tool gets the password in its environment, because other users can read its arguments. */
async function runOn(url: string, tool: string, args: string[], environment: Environment): Promise<void> {
  const address = new URL(url);
  const password = address.searchParams.get('password') ?? decodeURIComponent(address.password);
  address.password = '';
  // Not with `searchParams`, which writes spaces as plus signs; libpq does not understand these.
  const shown = address.search.slice(1).split('&').filter(isShown);
  address.search = [...shown, `${NAME_PARAMETER}=${tool}`].join('&');
  await run(tool, [...args, '--no-password', `--dbname=${address}`], {
    ...environment,
    ...(password !== '' && { PGPASSWORD: password }),
  });
}

/** Returns the standard output. */
async function run(tool: string, args: string[], environment: Environment): Promise<string> {
  const { code, output, errors } = await ended(tool, args, environment);
  if (code !== 0) {
    const reason = errors.trim().replaceAll(/\s*\n\s*/g, ' ');
    throw new CopyError(
      `${tool} failed with exit code ${code}: ${reason.slice(-MOST_CHARACTERS_SHOWN) || 'it gave no reason'}${OTHER_RELEASE.test(reason) ? OTHER_PROGRAMS : ''}`,
    );
  }
  return output;
}

async function ended(tool: string, args: string[], environment: Environment) {
  const child = spawn(tool, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment });
  // When a signal ends the command, its child process must end too.
  const end = () => child.kill();
  process.once('exit', end);
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  try {
    const [code, output, errors] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
    return { code, output, errors };
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? new StoreError(
          `${tool} is not on the PATH. Install the PostgreSQL client programs (postgresql-client) of the server's release.`,
          { cause: error },
        )
      : error;
  } finally {
    process.off('exit', end);
  }
}

function isShown(parameter: string): boolean {
  const [name = ''] = parameter.split('=');
  return !['', NAME_PARAMETER, ...SECRET_PARAMETERS].includes(decodeURIComponent(name));
}
