import type { EntityType } from '../domain/directory/stores.js';

/** Tables of the sequence of changes, from migration 0030. */
export interface ChangesSchema {
  changes: ChangesTable;
  change_digests: ChangeDigestsTable;
  change_lives: ChangeLivesTable;
  change_feed: ChangeFeedTable;
}

/** A row for each entity that integrations see, also for a removed one. Triggers write it. */
interface ChangesTable {
  entity_type: EntityType;
  entity_id: string;
  client_id: string;
  instance_id: string;
  /** Of the newest change. Rows of one transaction may share it. */
  position: number;
  /** A random number, which each change replaces. */
  version: number;
  /** Whether lists omit the entity. */
  removed: 0 | 1;
  changed_at: number;
}

/** On PostgreSQL several rows with the same client and type count together. */
interface ChangeDigestsTable {
  client_id: string;
  entity_type: EntityType;
  entities: number;
  /** The sum of the versions of the entities that are not removed, modulo 2^52. */
  digest: number;
}

/**
 * A restore begins a life, and so does a move to PostgreSQL, or another server or timeline of it. Cursors of
 * an earlier one are valid up to its last position.
 */
interface ChangeLivesTable {
  life: string;
  /** Null for the present life. */
  last_position: number | null;
  /** The server and timeline of PostgreSQL on which the life began; null on SQLite. */
  history: string | null;
}

/** One row. */
interface ChangeFeedTable {
  only_row: 1;
  /** SQLite: the position of the newest change. */
  last_position: number;
  /** PostgreSQL: what makes a position of the id of a transaction. */
  xid_offset: number;
}
