import { closeSync, existsSync, openSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { Sqlite } from '../better-sqlite3.js';
import { camelCase, camelCased } from '../camel-case.js';
import type { Database, StoreSize, StoreWatch, Writer } from '../database.js';
import type { Schema } from '../schema.js';
import { StoreError } from '../store-error.js';
import { whenNotBusy } from './busy.js';
import { type CheckpointOptions, Checkpoints } from './checkpoints.js';
import { allowDirectStatements } from './direct-statements.js';
import { asDiskTrouble } from './disk-trouble.js';
import { FileSync, type SyncedFile, syncedFile } from './file-sync.js';
import { GroupCommit } from './group-commit.js';
import { withKeptStatements } from './kept-statements.js';
import { transactionControl } from './transaction-control.js';

/** How long SQLite blocks the process for another writer; busy.ts handles longer waits. */
const BUSY_TIMEOUT_MS = 20;
/** For opening, and for readers, which wait only for a repair of the file. */
const OPENING_TIMEOUT_MS = 5_000;
const OWNER_ONLY = 0o600;
/** With less free space, some writes still succeed while others are refused. */
const LEAST_FREE_BYTES = 1_024 * 1_024;
/** When SQLite restarts a log that grew during a long read, it truncates it to this size. */
const LOG_KEPT_BYTES = 64 * 1_024 * 1_024;

export interface SqliteOptions {
  /** For a process with many callers. */
  checkpoints?: CheckpointOptions;
  /** A sync failed: no further write is accepted until the file is reopened. */
  onDiskFailure?: (error: unknown) => void;
  watch?: StoreWatch;
}

/** One connection writes and one reads, so that reads never see a group that may be rolled back. */
export function openSqlite(file: string, options: SqliteOptions = {}): Database {
  const writing = connect(file, false);
  // After the first connection, which makes the file and switches it to WAL.
  const reading = connect(file, true);
  const writer = kyselyOver(writing, Dialect);
  const reader = kyselyOver(reading, ReadingDialect);
  let writes: Writes | undefined;
  const write: Database['write'] = async (work, onDone, origin) => {
    try {
      // Starts with the first write: before it, migrations sort tables on the disk, and no callers wait.
      writes ??= startWrites(file, writing, writer, options);
      return await writes.run(work, onDone, origin);
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

/** Makes a write that changes nothing, and syncs it. The service may be running. */
export function tryWriteSqlite(file: string): void {
  const database = new Sqlite(file, { fileMustExist: true, timeout: OPENING_TIMEOUT_MS });
  try {
    database.pragma('synchronous = FULL');
    database.exec('begin immediate');
    // SQLite writes the page even if the value stays the same.
    database.pragma(`user_version = ${database.pragma('user_version', { simple: true })}`);
    database.exec('commit');
  } finally {
    database.close();
  }
}

/** Read-only. */
export function openSqliteReader(file: string): Pick<Database, 'reader' | 'close'> {
  const reading = connect(file, true);
  const reader = kyselyOver(reading, ReadingDialect);
  return {
    reader,
    close: async () => {
      await reader.destroy();
      reading.close();
    },
  };
}

interface Writes {
  run: Database['write'];
  /** Ends when all pending writes are done. */
  end(): Promise<void>;
}

function startWrites(
  file: string,
  writing: BetterSqlite3.Database,
  writer: Writer,
  { checkpoints: checkpointOptions, onDiskFailure = () => undefined, watch }: SqliteOptions,
): Writes {
  // Savepoint journals need not survive a crash; on the disk each group would make and remove a file.
  writing.pragma('temp_store = MEMORY');
  // Otherwise SQLite would sync at each commit, blocking. It still syncs where the order matters.
  writing.pragma('synchronous = NORMAL');
  writing.pragma(`journal_size_limit = ${LOG_KEPT_BYTES}`);
  const log = syncedFile(`${file}-wal`);
  const disk = new FileSync(watch ? withTimedSyncs(log, watch) : log, onDiskFailure);
  const setLogPages = (pages: number) => void writing.pragma(`wal_autocheckpoint = ${pages}`);
  const checkpoints = checkpointOptions && new Checkpoints(file, checkpointOptions, setLogPages);
  const commits = new GroupCommit(
    writer,
    transactionControl(writing),
    {
      assertSound: () => disk.assertSound(),
      done: () => {
        checkpoints?.noteCommit();
        return disk.done();
      },
    },
    watch?.committed,
  );
  return {
    run: (work, onDone, origin) => commits.run(work, onDone, origin),
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

function withTimedSyncs(file: SyncedFile, { synced }: StoreWatch): SyncedFile {
  return {
    ...file,
    sync: async () => {
      const begunAt = performance.now();
      try {
        await file.sync();
      } finally {
        synced(performance.now() - begunAt);
      }
    },
  };
}

function kyselyOver(connection: BetterSqlite3.Database, dialect: typeof Dialect): Kysely<Schema> {
  const database = withKeptStatements(connection);
  const kysely = new Kysely<Schema>({ dialect: new dialect({ database }) });
  allowDirectStatements(kysely, database);
  allowDirectStatements(camelCased(kysely), withKeptStatements(connection, camelCase));
  return kysely;
}

function connect(file: string, readonly: boolean): BetterSqlite3.Database {
  try {
    if (!existsSync(file)) {
      // SQLite's other files inherit its mode. Never open a file in use: closing it drops SQLite's locks.
      closeSync(openSync(file, 'a', OWNER_ONLY));
    }
    const database = new Sqlite(file, { readonly, timeout: OPENING_TIMEOUT_MS });
    if (!readonly) {
      database.pragma('journal_mode = WAL');
      database.pragma('synchronous = FULL');
      database.pragma('foreign_keys = ON');
      database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
    database.pragma('cache_size = -16000');
    return database;
  } catch (error) {
    throw new StoreError(`The database ${file} cannot be opened: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

/** Enables transactional DDL, which Kysely does not use on SQLite: an interrupted migration is undone. */
class Dialect extends SqliteDialect {
  constructor(protected readonly settings: { database: SqliteDatabase }) {
    super(settings);
  }

  override createAdapter(): SqliteAdapter {
    return new Adapter();
  }

  override createDriver(): SqliteDriver {
    return new Driver(this.settings);
  }

  override createQueryCompiler(): SqliteQueryCompiler {
    return new Compiler();
  }
}

/**
 * SQLite plans for the value of a placeholder that stands alone behind an operator or `limit`. So it prepares
 * the statement again for a new value, which takes several times as long as a short read. It does not
 * evaluate an expression for the plan, and a sign does not change the value.
 *
 * Nor does a placeholder match a value in the condition of a partial index: write a literal there, such as
 * `status = 'PENDING'`. For `is not null`, any comparison of the column suffices.
 */
class Compiler extends SqliteQueryCompiler {
  protected override appendValue(parameter: unknown): void {
    this.append('+');
    super.appendValue(parameter);
  }
}

class Adapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Takes the lock at once, so that the second of two first starts waits. */
class Driver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await whenNotBusy(() => connection.executeQuery(CompiledQuery.raw('begin immediate')));
  }
}

class ReadingDialect extends Dialect {
  override createDriver(): SqliteDriver {
    return new ReadingDriver(this.settings);
  }
}

/** A read is one synchronous statement and waits for no connection. Kysely's queue would be costly. */
class ReadingDriver extends Driver {
  #connection: Promise<DatabaseConnection> | undefined;

  override acquireConnection(): Promise<DatabaseConnection> {
    this.#connection ??= super.acquireConnection();
    return this.#connection;
  }

  override releaseConnection(): Promise<void> {
    return Promise.resolve();
  }
}
