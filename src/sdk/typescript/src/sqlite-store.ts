import type { Batch, Store, StoredDigest } from './stores.js';

/** What `DatabaseSync` of node:sqlite and `Database` of better-sqlite3 have in common. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close?(): unknown;
}

export interface SqliteStatement {
  run(...values: unknown[]): unknown;
  get(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
}

interface State {
  cursor: string | null;
  load: number;
  isLoading: number;
}

/** How long to wait for another program that uses the file: as long as better-sqlite3 does. */
const LONGEST_LOCK_MS = 5_000;

const OWNER_ONLY = 0o600;

/** What `open` uses of node:fs. */
interface Files {
  openSync(path: string, flags: string, mode: number): number;
  closeSync(file: number): void;
}

/** The same in all languages of the SDK: a file that one has made, another can continue. */
const SCHEMA = `
  create table if not exists entities (
    type text not null,
    id text not null,
    client_id text not null,
    version integer not null,
    changed_at text not null,
    resource text not null,
    load integer not null,
    primary key (type, id)
  );
  create index if not exists entities_of_client on entities (client_id, type, version);
  create table if not exists sync_state (
    only_row integer primary key check (only_row = 1),
    cursor text,
    load integer not null,
    is_loading integer not null
  );
  insert or ignore into sync_state (only_row, cursor, load, is_loading) values (1, null, 0, 0);
`;

/** In halves, because SQLite refuses sums of more than 63 bits. */
const DIGESTS = `
  select client_id as clientId, type, count(*) as count, sum(version >> 26) as high, sum(version & 67108863) as low
  from entities group by client_id, type
`;

const UPSERT = `
  insert into entities (type, id, client_id, version, changed_at, resource, load) values (?, ?, ?, ?, ?, ?, ?)
  on conflict (type, id) do update set client_id = excluded.client_id, version = excluded.version,
    changed_at = excluded.changed_at, resource = excluded.resource, load = excluded.load
`;

/**
 * A copy in a SQLite database: the table `entities` has a row for each, with its `resource` as JSON. Read it
 * as you like; only the store writes it.
 */
export class SqliteStore implements Store {
  readonly #database: SqliteDatabase;

  /** @param database of node:sqlite or better-sqlite3 */
  constructor(database: SqliteDatabase) {
    this.#database = database;
    // Otherwise removed records stay readable in unused parts of the file.
    database.exec('pragma secure_delete = on');
    database.exec(SCHEMA);
  }

  /** Opens a file with node:sqlite, which Node.js has from 22.13 on, or makes it for its owner alone. */
  static open(path: string): SqliteStore {
    const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
    const sqlite = process?.getBuiltinModule?.('node:sqlite') as
      | { DatabaseSync: new (path: string) => SqliteDatabase }
      | undefined;
    if (!sqlite) {
      throw new Error(
        'This Node has no node:sqlite. Update to Node 22.13 or later, or use new SqliteStore(database) with better-sqlite3.',
      );
    }
    // SQLite would let the umask decide. Other names are of databases in memory, or addresses.
    if (path !== '' && !/^(?::memory:$|file:)/.test(path)) {
      makePrivately(path, process?.getBuiltinModule?.('node:fs') as Files);
    }
    const database = new sqlite.DatabaseSync(path);
    database.exec(`pragma busy_timeout = ${LONGEST_LOCK_MS}`);
    // A program that reads the file would hold up the writes, which are synchronous, and so this process.
    database.exec('pragma journal_mode = wal');
    return new SqliteStore(database);
  }

  /** Closes the database, also one given to the constructor. End the sync first. */
  close(): void {
    this.#database.close?.();
  }

  cursor(): string | null {
    return this.#state().cursor;
  }

  apply(batch: Batch): void {
    this.#database.exec('begin immediate');
    try {
      this.#write(batch);
      this.#database.exec('commit');
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  digests(): StoredDigest[] {
    const rows = this.#database.prepare(DIGESTS).all() as (StoredDigest & { high: number; low: number })[];
    return rows.map(({ clientId, type, count, high, low }) => {
      const sum = BigInt(high) * 2n ** 26n + BigInt(low);
      return { clientId, type, count, digest: Number(BigInt.asUintN(52, sum)) };
    });
  }

  /** SQLite has rolled back by itself after some errors, such as that of a full disk. */
  #rollBack(): void {
    try {
      this.#database.exec('rollback');
    } catch {
      // The error of the transaction is the one to report.
    }
  }

  #write({ changes, after, cursor, isFirst, isLast }: Batch): void {
    const state = this.#state();
    if (!isFirst && state.cursor !== after) {
      return;
    }
    const load = state.load + (isFirst ? 1 : 0);
    const isLoading = isFirst || state.isLoading === 1;
    const upsert = this.#database.prepare(UPSERT);
    const remove = this.#database.prepare('delete from entities where type = ? and id = ?');
    for (const { type, id, clientId, version, changedAt, json } of changes) {
      if (json === null) {
        remove.run(type, id);
      } else {
        upsert.run(type, id, clientId, version, changedAt.toISOString(), json, load);
      }
    }
    if (isLast && isLoading) {
      this.#database.prepare('delete from entities where load < ?').run(load);
    }
    this.#database
      .prepare('update sync_state set cursor = ?, load = ?, is_loading = ?')
      .run(cursor, load, isLoading && !isLast ? 1 : 0);
  }

  #state(): State {
    return this.#database
      .prepare('select cursor, load, is_loading as isLoading from sync_state')
      .get() as State;
  }
}

/**
 * Makes the file if there is none. To open and close one that is there would take away the locks that other
 * stores of this process have on it.
 */
function makePrivately(path: string, files: Files): void {
  try {
    files.closeSync(files.openSync(path, 'wx', OWNER_ONLY));
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') {
      throw error;
    }
  }
}
