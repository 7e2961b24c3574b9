import type { Change } from '../changes.js';
import type { Batch, Store, StoredDigest } from './store.js';

const MODULUS = 2 ** 53;

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
    for (const change of changes) {
      const key = keyOf(change.type, change.id);
      if (change.removed) {
        this.#kept.delete(key);
      } else {
        this.#kept.set(key, { change, load: this.#load });
      }
    }
    this.#cursor = cursor;
    if (isLast) {
      this.#removeOld();
    }
  }

  digests(): StoredDigest[] {
    const digests = new Map<string, StoredDigest>();
    for (const { clientId, type, version } of this) {
      const key = keyOf(type, clientId);
      const sum = digests.get(key) ?? { clientId, type, count: 0, digest: 0 };
      sum.count += 1;
      sum.digest = added(sum.digest, version);
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

/** Modulo 2^53, with no sum in between that a number cannot have. */
function added(sum: number, version: number): number {
  const room = MODULUS - version;
  return sum >= room ? sum - room : sum + version;
}
