import { closeSync, existsSync, openSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import type { Database, Writer } from '../database.js';
import type { Schema } from '../schema.js';
import { StoreError } from '../store-error.js';
import { whenNotBusy } from './busy.js';
import { type CheckpointOptions, Checkpoints } from './checkpoints.js';
import { allowDirectStatements } from './direct-statements.js';
import { asDiskTrouble } from './disk-trouble.js';
import { FileSync, syncedFile } from './file-sync.js';
import { GroupCommit } from './group-commit.js';
import { withKeptStatements } from './kept-statements.js';
import { transactionControl } from './transaction-control.js';

/** How long SQLite itself waits for another writer, holding up all of this process; longer waits are for busy.ts. */
const BUSY_TIMEOUT_MS = 20;
/** For opening, before anybody is served, and for readers, whom only a repair of the file makes wait. */
const OPENING_TIMEOUT_MS = 5_000;
const OWNER_ONLY = 0o600;

export interface SqliteOptions {
  /** For a process that many wait for. */
  checkpoints?: CheckpointOptions;
  /** The disk did not take what was written: from now on no write is accepted, until the file is opened anew. */
  onDiskFailure?: (error: unknown) => void;
}

/** One connection that writes and one that reads, so that reads never see a group that may still be rolled back. */
export function openSqlite(file: string, options: SqliteOptions = {}): Database {
  const writing = connect(file, false);
  // The first connection has made the file and switched it to WAL, which a read-only one could not do.
  const reading = connect(file, true);
  const writer = kyselyOver(writing, Dialect);
  const reader = kyselyOver(reading, ReadingDialect);
  let writes: Writes | undefined;
  return {
    reader,
    prober: reader,
    write: async (work, onDone, origin) => {
      try {
        // Not before the first write: migrations sort whole tables, which belongs on the disk, and nobody else waits for them.
        writes ??= startWrites(file, writing, writer, options);
        return await writes.run(work, onDone, origin);
      } catch (error) {
        throw asDiskTrouble(error);
      }
    },
    writesInOrder: true,
    migrator: writer,
    close: async () => {
      try {
        await writes?.end();
        writes = undefined;
      } finally {
        // Kysely leaves open what it never used. The writer goes last: it folds the WAL into the file, which a reader cannot.
        await reader.destroy();
        reading.close();
        await writer.destroy();
        writing.close();
      }
    },
  };
}

/** For looking only. */
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
  /** When all that was asked for is written. */
  end(): Promise<void>;
}

function startWrites(
  file: string,
  writing: BetterSqlite3.Database,
  writer: Writer,
  { checkpoints: checkpointOptions, onDiskFailure = () => undefined }: SqliteOptions,
): Writes {
  // What undoes a savepoint is worth nothing after a crash; in a file, each group would open, write and remove one.
  writing.pragma('temp_store = MEMORY');
  // SQLite itself would wait for the disk at each commit, and everybody with it. It still does so where the order of writes matters.
  writing.pragma('synchronous = NORMAL');
  const disk = new FileSync(syncedFile(`${file}-wal`), onDiskFailure);
  const setLogPages = (pages: number) => void writing.pragma(`wal_autocheckpoint = ${pages}`);
  const checkpoints = checkpointOptions && new Checkpoints(file, checkpointOptions, setLogPages);
  const commits = new GroupCommit(writer, transactionControl(writing), {
    assertSound: () => disk.assertSound(),
    done: () => {
      checkpoints?.noteCommit();
      return disk.done();
    },
  });
  return {
    run: (work, onDone, origin) => commits.run(work, onDone, origin),
    end: async () => {
      await commits.idle();
      await disk.close();
      await checkpoints?.close();
    },
  };
}

function kyselyOver(connection: BetterSqlite3.Database, dialect: typeof Dialect): Kysely<Schema> {
  const database = withKeptStatements(connection);
  const kysely = new Kysely<Schema>({ dialect: new dialect({ database }) });
  allowDirectStatements(kysely, database);
  return kysely;
}

function connect(file: string, readonly: boolean): BetterSqlite3.Database {
  try {
    if (!existsSync(file)) {
      // The files that SQLite puts beside it take over its mode. Never open one that is in use: closing it would drop SQLite's locks.
      closeSync(openSync(file, 'a', OWNER_ONLY));
    }
    const database = new BetterSqlite3(file, { readonly, timeout: OPENING_TIMEOUT_MS });
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

/** SQLite can undo changes of tables; Kysely does not use that by itself, and a migration cut off would stay half done. */
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
}

class Adapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Takes the lock at once, so that of two first starts the second waits for the first. */
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

/**
 * A read is one statement, done before anybody else has a turn, so that nobody need wait for the connection. Kysely has a queue for it, of which every release wakes
 * all: with thirty readers at once they did little else.
 */
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
