import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { sql } from 'kysely';
import { makePrivately, stage, unstage } from '../../files/staged.js';
import { Sqlite } from '../better-sqlite3.js';
import type { Database, StoreSize, StoreWatch, Writer } from '../database.js';
import { mayPass, NO_QUOTA, StoreError } from '../store-error.js';
import { type CheckpointOptions, Checkpoints } from './checkpoints.js';
import { FileSync, syncedFile } from './file-sync.js';
import { GroupCommit, type TransactionControl } from './group-commit.js';
import { kyselyOver, whenNotBusy } from './sqlite-dialect.js';
import { unavailable } from './unavailable.js';

/** How long SQLite blocks the process for another writer; `whenNotBusy` handles longer waits. */
const BUSY_TIMEOUT_MS = 20;
/** For opening, and for readers, which wait only for a repair of the file. */
const OPENING_TIMEOUT_MS = 5_000;
const OWNER_ONLY = 0o600;
/** With less free space, some writes still succeed while others are refused. */
const LEAST_FREE_BYTES = 1_024 * 1_024;
/** When SQLite restarts a log that grew during a long read, it truncates it to this size. */
const LOG_KEPT_BYTES = 64 * 1_024 * 1_024;

export interface SqliteOptions {
  /** For a process with many callers: checkpoints in a thread. */
  checkpoints?: CheckpointOptions;
  /** A sync failed: no further write is accepted until the file is reopened. */
  onDiskFailure?: (error: unknown) => void;
  watch?: StoreWatch;
}

/** One connection writes and one reads, so that reads never see a group that may be rolled back. */
export function openSqlite(file: string, options: SqliteOptions = {}): Database {
  const { writing, reading } = connectTwice(file);
  const writer = kyselyOver(writing);
  const reader = kyselyOver(reading);
  let writes: ReturnType<typeof startWrites> | undefined;
  const write: Database['write'] = async (work, onDone, origin) => {
    try {
      // Starts with the first write: before it, migrations sort tables on the disk, and no callers wait.
      writes ??= startWrites(file, writing, writer, options);
      return await writes.commits.run(work, onDone, origin);
    } catch (error) {
      throw asDiskTrouble(error);
    }
  };
  return {
    reader,
    prober: reader,
    clock: Date.now,
    counter: undefined,
    write,
    tryWrite: async () => {
      await assertRoom(dirname(file));
      // Applications may use `user_version`. SQLite writes its page even if the value stays the same.
      await write((writer) => sql`pragma user_version = 1`.execute(writer));
    },
    size: () => sizeOf(file, reading),
    writesInOrder: true,
    patient: writer,
    close: async () => {
      try {
        await writes?.end();
        writes = undefined;
      } finally {
        // Kysely does not close what it never used. The writer is last: it folds the WAL into the file.
        await reader.destroy();
        reading.close();
        await writer.destroy();
        writing.close();
      }
    },
  };
}

/**
 * Closes a database and keeps its log: the next start sees from it that the service did not close the file.
 * The last connection folds the log into the file, unless it only reads.
 */
export async function closeKeepingLog(file: string, close: () => Promise<void>): Promise<void> {
  let last: BetterSqlite3.Database | undefined;
  try {
    last = connect(file, true);
    last.prepare('select count(*) from sqlite_schema').get();
  } catch {
    // The file is damaged, or cannot be read.
  }
  try {
    await close();
  } finally {
    last?.close();
  }
}

/**
 * Makes a write that changes nothing, and syncs it. The service may be running. An empty log is emptied
 * again: from a log, the next start would conclude that the service did not close the file.
 */
export function tryWriteSqlite(file: string): void {
  const wasEmpty = !statSync(`${file}-wal`, { throwIfNoEntry: false })?.size;
  const database = new Sqlite(file, { fileMustExist: true, timeout: OPENING_TIMEOUT_MS });
  try {
    database.pragma('synchronous = FULL');
    database.exec('begin immediate');
    // SQLite writes the page even if the value stays the same.
    database.pragma(`user_version = ${database.pragma('user_version', { simple: true })}`);
    database.exec('commit');
    if (wasEmpty) {
      // Does not wait for others: a running service empties its log itself.
      database.pragma('busy_timeout = 0');
      database.pragma('wal_checkpoint(TRUNCATE)');
    }
  } finally {
    database.close();
  }
}

export function openSqliteReader(file: string): Pick<Database, 'reader' | 'close'> {
  const reading = connect(file, true);
  const reader = kyselyOver(reading);
  return {
    reader,
    close: async () => {
      await reader.destroy();
      reading.close();
    },
  };
}

function startWrites(
  file: string,
  writing: BetterSqlite3.Database,
  writer: Writer,
  { checkpoints: checkpointOptions, onDiskFailure = () => undefined, watch }: SqliteOptions,
) {
  // Savepoint journals need not survive a crash; on the disk each group would make and remove a file.
  writing.pragma('temp_store = MEMORY');
  // Otherwise SQLite would sync at each commit, blocking. It still syncs where the order matters.
  writing.pragma('synchronous = NORMAL');
  writing.pragma(`journal_size_limit = ${LOG_KEPT_BYTES}`);
  const disk = new FileSync(syncedFile(`${file}-wal`), onDiskFailure, watch?.synced);
  const setLogPages = (pages: number) => void writing.pragma(`wal_autocheckpoint = ${pages}`);
  const checkpoints = checkpointOptions && new Checkpoints(file, checkpointOptions, setLogPages);
  const commits = new GroupCommit(writer, transactionControl(writing), disk, (count) => {
    checkpoints?.noteCommit();
    watch?.committed(count);
  });
  return {
    commits,
    /** Ends when all pending writes are done. */
    end: async () => {
      await commits.idle();
      await disk.close();
      await checkpoints?.close();
    },
  };
}

async function sizeOf(file: string, reading: BetterSqlite3.Database): Promise<StoreSize> {
  const [database, log] = await Promise.all([stat(file), stat(`${file}-wal`)]);
  const pageBytes = reading.pragma('page_size', { simple: true }) as number;
  const freePages = reading.pragma('freelist_count', { simple: true }) as number;
  return { databaseBytes: database.size, freeBytes: freePages * pageBytes, logBytes: log.size };
}

async function assertRoom(directory: string): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < LEAST_FREE_BYTES) {
    throw new Error(
      `The disk of ${directory} is full: ${Math.floor((bavail * bsize) / 1_024)} KiB are free.`,
    );
  }
}

function connectTwice(file: string) {
  const writing = connect(file, false);
  try {
    // After the first connection, which makes the file and switches it to WAL.
    return { writing, reading: connect(file, true) };
  } catch (error) {
    writing.close();
    throw error;
  }
}

function connect(file: string, readonly: boolean): BetterSqlite3.Database {
  let database: BetterSqlite3.Database | undefined;
  try {
    if (!existsSync(file)) {
      // SQLite's other files inherit its mode. Never open a file in use: closing it drops SQLite's locks.
      closeSync(openSync(file, 'a', OWNER_ONLY));
    }
    database = new Sqlite(file, { readonly, timeout: OPENING_TIMEOUT_MS });
    if (!readonly) {
      database.pragma('journal_mode = WAL');
      database.pragma('synchronous = FULL');
      database.pragma('foreign_keys = ON');
      database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
    database.pragma('cache_size = -16000');
    return database;
  } catch (error) {
    // Tried before the close, which may remove a log and so make room for one file.
    const reason = whyNoNewFile(error, file) ?? error;
    database?.close();
    throw new StoreError(`The database ${file} cannot be opened: ${(reason as Error).message}.`, {
      cause: error,
      mayPass: mayPass(reason),
    });
  }
}

/** SQLite makes files beside the database, which a clean end removes, and does not say why it cannot. */
function whyNoNewFile(error: unknown, file: string): unknown {
  if ((error as { code?: unknown }).code !== 'SQLITE_CANTOPEN') {
    return undefined;
  }
  const trial = stage(file);
  try {
    makePrivately(trial);
    return undefined;
  } catch (refusal) {
    return mayPass(refusal) ? refusal : undefined;
  } finally {
    unstage(trial);
  }
}

/** Prepared once and run without Kysely, because every write needs them. */
function transactionControl(database: BetterSqlite3.Database): TransactionControl {
  const runs = (sql: string) => {
    const statement = database.prepare(sql);
    return () => void statement.run();
  };
  const begin = runs('begin immediate');
  return {
    begin: () => whenNotBusy(begin),
    commit: runs('commit'),
    rollback: runs('rollback'),
    savepoint: runs('savepoint job'),
    release: runs('release job'),
    rollbackToSavepoint: runs('rollback to job'),
    isOpen: () => database.inTransaction,
  };
}

/** A full or failing disk, too many files, or another writing process: SQLite's and the system's codes. */
const DISK_TROUBLE = new RegExp(
  `^(SQLITE_(BUSY|FULL|IOERR|CANTOPEN|READONLY)|(E(IO|NOSPC|FBIG|ROFS|MFILE|NFILE)|${NO_QUOTA})$)`,
);

/** The failure came before or during the commit: nothing was written, and a retry may succeed. */
function asDiskTrouble(error: unknown): unknown {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && DISK_TROUBLE.test(code)
    ? unavailable('The service cannot write at the moment. Try again later.', error, 10)
    : error;
}
