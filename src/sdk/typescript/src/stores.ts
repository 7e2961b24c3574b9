import type { Change } from './changes.js';

const MODULUS = 2 ** 52;

/** A part of the sequence of changes, to be stored as a whole. */
export interface Batch {
  /** Each replaces the stored entity; a removal deletes it. */
  readonly changes: readonly Change[];
  /** The cursor from which the batch continues. */
  readonly after: string | null;
  /** The cursor to store with the changes. */
  readonly cursor: string | null;
  /** The sequence begins anew. Keep the stored entities until the last batch. */
  readonly isFirst: boolean;
  /** The sequence was read to its end: delete the entities that have not come since the first batch. */
  readonly isLast: boolean;
}

/** What a store has of one type of a client's entities. */
export interface StoredDigest {
  clientId: string;
  type: string;
  count: number;
  /** The sum of their versions, modulo 2^52. */
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

interface Kept {
  change: Change;
  /** The number of the load in which it came. */
  load: number;
}

/** A copy in memory, which each start of the program loads again. */
export class MemoryStore implements Store {
  readonly #kept = new Map<string, Kept>();
  #cursor: string | null = null;
  #load = 0;
  #isLoading = false;

  /** The newest change of an entity, with its `resource`. */
  get(type: string, id: string): Change | undefined {
    return this.#kept.get(keyOf(type, id))?.change;
  }

  /** All entities that are not removed. */
  *[Symbol.iterator](): Generator<Change, void, undefined> {
    for (const { change } of this.#kept.values()) {
      yield change;
    }
  }

  cursor(): string | null {
    return this.#cursor;
  }

  apply({ changes, after, cursor, isFirst, isLast }: Batch): void {
    if (!isFirst && this.#cursor !== after) {
      return;
    }
    this.#load += isFirst ? 1 : 0;
    this.#isLoading ||= isFirst;
    for (const change of changes) {
      const key = keyOf(change.type, change.id);
      if (change.removed) {
        this.#kept.delete(key);
      } else {
        this.#kept.set(key, { change, load: this.#load });
      }
    }
    this.#cursor = cursor;
    // Only after a load: later batches leave nothing old, and scanning a large copy takes long.
    if (isLast && this.#isLoading) {
      this.#removeOld();
      this.#isLoading = false;
    }
  }

  digests(): StoredDigest[] {
    const digests = new Map<string, StoredDigest>();
    for (const { clientId, type, version } of this) {
      const key = keyOf(type, clientId);
      const sum = digests.get(key) ?? { clientId, type, count: 0, digest: 0 };
      sum.count += 1;
      sum.digest = (sum.digest + version) % MODULUS;
      digests.set(key, sum);
    }
    return [...digests.values()];
  }

  #removeOld(): void {
    for (const [key, { load }] of this.#kept) {
      if (load < this.#load) {
        this.#kept.delete(key);
      }
    }
  }
}

function keyOf(type: string, id: string): string {
  return `${type} ${id}`;
}
