import type { Change } from '../changes.js';

/** A part of the sequence of changes, to be stored as a whole. */
export interface Batch {
  /** Each replaces what the store has of its entity; of a removed one nothing stays. */
  readonly changes: readonly Change[];
  /** The cursor from which the batch continues. */
  readonly after: string | null;
  /** The cursor to store with the changes. */
  readonly cursor: string | null;
  /** The sequence begins anew. What the store has stays for now. */
  readonly isFirst: boolean;
  /** The sequence was read to its end: what has not come since the first batch goes. */
  readonly isLast: boolean;
}

/** What a store has of one type of a client's entities. */
export interface StoredDigest {
  clientId: string;
  type: string;
  count: number;
  /** The sum of their versions, modulo 2^53. */
  digest: number;
}

/** Keeps a copy of what one instance integration reads. The methods may answer at once or later. */
export interface Store {
  /** The cursor of the last batch; `null` before there is one. */
  cursor(): Promise<string | null> | string | null;
  /**
   * One transaction: the whole batch with its cursor, or nothing. Ignores a batch that is not the first and
   * continues from another cursor than the store has: another process has stored more meanwhile.
   */
  apply(batch: Batch): Promise<void> | void;
  /** Of all clients. */
  digests(): Promise<StoredDigest[]> | StoredDigest[];
}
