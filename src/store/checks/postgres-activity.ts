import { sql } from 'kysely';
import { heldBackIn } from '../adapters/changes.js';
import { databaseNow } from '../adapters/operator/encryption-keys.js';
import { DUMPER, SNAPSHOT_HOLDER } from '../copies/postgres-copy.js';
import type { Reader } from '../database.js';
import { type Check, foundIn, lengthOf } from './check.js';

/** The service gives up on a lock after 3 s, and its transactions wait only for SQL statements. */
const LONG_WAIT_MS = 3_000;
const LONG_IDLE_MS = 30_000;

interface Process {
  pid: number;
  name: string;
  ms: number;
}

export const locksAreFree: Check<{ longMs?: number }> = {
  name: 'lock-waits',
  about: `No statement that began more than ${lengthOf(LONG_WAIT_MS)} ago waits for a lock.`,
  severity: 'warning',
  remedy:
    'Find out what the blocking process does (`select * from pg_stat_activity where pid = …`), and end it if it is stuck: `select pg_terminate_backend(…)`.',
  find: async (reader, { longMs = LONG_WAIT_MS }) => {
    const { rows } = await sql<Process & { blockers: number[] }>`
      select pid, application_name as name, pg_blocking_pids(pid) as blockers,
        extract(epoch from clock_timestamp() - query_start) * 1000 as ms
      from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
        and query_start < clock_timestamp() - ${longMs} * interval '1 millisecond'
      order by query_start
    `.execute(reader);
    return foundIn(
      rows.map(
        (row) =>
          `${processOf(row)} began ${lengthOf(row.ms)} ago and waits for a lock; blocked by ${row.blockers.join(', ') || 'none'}`,
      ),
    );
  },
};

/** Skips the transaction of a backup while pg_dump runs: the backup ends it. */
export const noTransactionIsIdle: Check<{ longMs?: number }> = {
  name: 'idle-transactions',
  about: `No transaction has been open and idle for more than ${lengthOf(LONG_IDLE_MS)}.`,
  severity: 'warning',
  remedy:
    'End it: `select pg_terminate_backend(…)`. It holds its locks and keeps VACUUM from removing old rows. Often it is a console or a stopped process.',
  find: async (reader, { longMs = LONG_IDLE_MS }) => {
    const { rows } = await sql<Process>`
      select pid, application_name as name, extract(epoch from clock_timestamp() - state_change) * 1000 as ms
      from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'
        and (application_name is distinct from ${SNAPSHOT_HOLDER} or not exists (
          select 1 from pg_stat_activity where datname = current_database() and application_name = ${DUMPER}
        ))
        and state_change < clock_timestamp() - ${longMs} * interval '1 millisecond'
      order by state_change
    `.execute(reader);
    return foundIn(rows.map((row) => `${processOf(row)} is idle in a transaction for ${lengthOf(row.ms)}`));
  },
};

const LONG_HELD_BACK_MS = 60_000;

export const changesAreNotHeldBack: Check<{ longMs?: number }> = {
  name: 'changes-held-back',
  about: `Readers of the sequence of changes get each change within ${lengthOf(LONG_HELD_BACK_MS)}.`,
  severity: 'warning',
  remedy:
    'Find the oldest transaction that writes, in any database of the server (`select pid, datname, xact_start, query from pg_stat_activity where backend_xid is not null order by age(backend_xid) desc`, and `select * from pg_prepared_xacts`), and end it if it is stuck: `select pg_terminate_backend(…)`. Other roles see it only with `pg_read_all_stats`.',
  find: async (reader, { longMs = LONG_HELD_BACK_MS }) => {
    const { changes, ageMs } = await heldBackIn(reader);
    if (changes === 0 || ageMs < longMs) {
      return foundIn([]);
    }
    const { rows } = await sql<Process & { database: string }>`
      select pid, application_name as name, datname as database,
        extract(epoch from clock_timestamp() - xact_start) * 1000 as ms
      from pg_stat_activity where backend_xid is not null order by age(backend_xid) desc limit 1
    `.execute(reader);
    const oldest = rows.map(
      (row) => `${processOf(row)} of database ${row.database}, for ${lengthOf(row.ms)}`,
    );
    return foundIn([
      `${changes} changes are held back, the oldest for ${lengthOf(ageMs)}; the oldest transaction that this role sees: ${oldest[0] ?? 'none'}`,
    ]);
  },
};

export const indexesAreValid: Check<unknown> = {
  name: 'indexes',
  about: 'Every index is valid.',
  severity: 'error',
  remedy:
    'Rebuild it: `reindex index concurrently …`. Until then PostgreSQL does not use it for queries, and a unique index does not guarantee uniqueness.',
  find: async (reader) => {
    const { rows } = await sql<{ name: string; table_name: string }>`
      select index.relname as name, indexed.relname as table_name
      from pg_index
      join pg_class as index on index.oid = pg_index.indexrelid
      join pg_class as indexed on indexed.oid = pg_index.indrelid
      join pg_namespace on pg_namespace.oid = index.relnamespace
      where pg_namespace.nspname = current_schema() and not (indisvalid and indisready)
      order by 1
    `.execute(reader);
    return foundIn(rows.map(({ name, table_name }) => `${name} of ${table_name} is not valid`));
  },
};

const MOST_APART_MS = 2_000;

export const clocksAgree: Check<{ clock?: () => number }> = {
  name: 'database-clock',
  about: `The clocks of this machine and of the database are at most ${lengthOf(MOST_APART_MS)} apart.`,
  severity: 'warning',
  remedy:
    'Synchronize both clocks with NTP (`timedatectl`). Domains use the clock of the database; logs, commands and backups use that of the machine.',
  find: async (reader, { clock = Date.now }) => {
    const [before, there, after] = [clock(), await timeAt(reader), clock()];
    const apart = Math.max(0, before - there, there - after);
    const direction = there > after ? 'behind' : 'ahead of';
    return foundIn(
      apart > MOST_APART_MS ? [`this machine is ${lengthOf(apart)} ${direction} the database`] : [],
      `${Math.round(apart)} ms apart.`,
    );
  },
};

async function timeAt(reader: Reader): Promise<number> {
  const { rows } = await sql<{ at: number }>`select ${databaseNow(reader)} as at`.execute(reader);
  return Number(rows[0]?.at);
}

function processOf({ pid, name }: Process): string {
  return `process ${pid}${name ? ` (${name})` : ''}`;
}
