import { CamelCasePlugin, type Kysely, type Transaction } from 'kysely';
import type { Clock } from '../domain/clock.js';
import type { WriteOrigin } from '../domain/unit-of-work.js';
import type { Schema } from './schema.js';

/** For reads: sees committed data only. */
export type Reader = Kysely<Schema>;

/** For writes: inside one transaction, or one savepoint of a group. */
export type Writer = Kysely<Schema> | Transaction<Schema>;

/** The sizes of the SQLite files. */
export interface StoreSize {
  databaseBytes: number;
  /** Pages of the database that are free for further rows. */
  freeBytes: number;
  /** The write-ahead log. */
  logBytes: number;
}

/** The common interface of both databases. */
export interface Database {
  readonly reader: Reader;
  /**
   * For counts that nodes share, in single statements. Has a connection of its own, because limits must not
   * depend on busy pools. Undefined for SQLite, which has one node.
   */
  readonly counter: Kysely<Schema> | undefined;
  /** For the health probe, which must not wait for other reads. */
  readonly prober: Reader;
  /** All nodes of this database decide by this time what has expired and what is due. */
  readonly clock: Clock;
  /**
   * Runs the work as one transaction, acknowledged when it would survive a power failure. The work may await
   * SQL only, because others may share its commit, and have no other effects, because PostgreSQL may repeat
   * it. `onDone` is called when the next write would see its effect; on SQLite that is before the commit,
   * which may still fail.
   */
  write<T>(work: (writer: Writer) => Promise<T>, onDone?: () => void, origin?: WriteOrigin): Promise<T>;
  /** Makes a small real write; throws unless it would survive a power failure. */
  tryWrite(): Promise<void>;
  /** Undefined for PostgreSQL, which has monitoring of its own. */
  size(): Promise<StoreSize | undefined>;
  /** Whether concurrent writes run one after the other, those of one lane in the order of their calls. */
  readonly writesInOrder: boolean;
  /** For statements that may take minutes, one at a time: migrations, and searches that no call waits for. */
  readonly patient: Kysely<Schema>;
  close(): Promise<void>;
}

/** Measures a store. Each method is called after the fact, and throws nothing. */
export interface StoreWatch {
  /** An audit record is committed; one may stand for several equal acts. Reasons are words of a fixed set. */
  recorded(type: string, outcome: string, times: number, reason?: string): void;
  /** A commit of SQLite, which so many writes shared. */
  committed(writes: number): void;
  /** A sync of SQLite's log, perhaps a failed one. */
  synced(durationMs: number): void;
  /** A write, from its call to its acknowledgement. */
  wrote(outcome: 'committed' | 'undone', durationMs: number): void;
  /** The disk refused a write because it is full, read-only or failing. */
  refused(): void;
  /** A pool lent a PostgreSQL connection, or failed to, after this wait. */
  lent(pool: string, durationMs: number): void;
  /** Says where the rows of a gateway read come from. Not called without a replica. */
  readFrom(source: 'replica' | 'primary', reason: '' | 'lag' | 'failure'): void;
  /** Whether other nodes notify this one of due deliveries. Only PostgreSQL. */
  listens(isListening: boolean): void;
  /** Another node notified this one of due deliveries. */
  notified(): void;
}

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name & string;

/** The tables in the spelling of the domain; the database spells in snake_case. */
export type Tables = {
  [Table in keyof Schema as CamelCase<Table>]: {
    [Column in keyof Schema[Table] as CamelCase<Column>]: Schema[Table][Column];
  };
};

/** What an adapter reads or writes with, in the spelling of the domain. */
export type Rows = Kysely<Tables>;

class Plugin extends CamelCasePlugin {
  nameOf(column: string): string {
    return this.camelCase(column);
  }
}

const plugin = new Plugin();

/** The name that a column of a result gets. */
export const camelCase = (column: string) => plugin.nameOf(column);

/** The same database, reader or transaction; made once for each. */
export const camelCased = keptRows((db) => db.withPlugin(plugin) as unknown as Rows);

/** Makes the adapters of a database once: on SQLite all transactions share one. */
export function keptRows<Made extends object>(make: (db: Writer) => Made): (db: Writer) => Made {
  const kept = new WeakMap<Writer, Made>();
  return (db) => {
    let rows = kept.get(db);
    if (rows === undefined) {
      rows = make(db);
      kept.set(db, rows);
    }
    return rows;
  };
}
