import type { Kysely, Transaction } from 'kysely';
import type { WriteOrigin } from '../domain/platform/unit-of-work.js';
import type { Schema } from './schema.js';

export type { WriteOrigin };

/** What an adapter reads with: sees committed data only. */
export type Reader = Kysely<Schema>;

/** What an adapter writes with, inside one transaction or one savepoint of a group. */
export type Writer = Kysely<Schema> | Transaction<Schema>;

/** The database as adapters see it, whichever it is. */
export interface Database {
  readonly reader: Reader;
  /** For the probe of health alone, which must not wait behind what others read. */
  readonly prober: Reader;
  /**
   * Runs the work as one transaction: all of it or none. It is acknowledged only when it would survive a power cut. The work
   * may await nothing but SQL, because others may share its commit, and leaves no trace elsewhere, because PostgreSQL may have it done again.
   * `onDone` hears when the next write would find what this one wrote. On SQLite that is before the commit, which may fail yet: what is asked for
   * at once shares it.
   */
  write<T>(work: (writer: Writer) => Promise<T>, onDone?: () => void, origin?: WriteOrigin): Promise<T>;
  /** Whether writes asked for at the same time happen one after the other, those of one lane in the order in which they were asked for. */
  readonly writesInOrder: boolean;
  /** The connection that migrations run on, before anything else does. */
  readonly migrator: Kysely<Schema>;
  close(): Promise<void>;
}
