import { type Box, SealError, SealedBox } from './sealed-box.js';
import type { EncryptionKey } from './secrets-key.js';
import { type Purpose, subkeyOf } from './subkeys.js';

const SEPARATOR = '.';

/** The keys of the key file. A seal begins with the id of its key; those of the first releases have none. */
export class SealingRing {
  #held = new Map<string, EncryptionKey>();
  #used: { usedId: string; firstId: string } | undefined;
  /** By key and purpose: deriving a subkey costs more than opening a seal. */
  #boxes = new Map<string, SealedBox>();

  constructor(keys: readonly EncryptionKey[]) {
    this.hold(keys);
  }

  /** Replaces the held keys. */
  hold(keys: readonly EncryptionKey[]): void {
    this.#held = new Map(keys.map((key) => [key.id, key]));
    this.#boxes = new Map();
  }

  /** From now on `usedId` seals; seals without an id are of `firstId`. */
  use(usedId: string, firstId: string): void {
    this.#used = { usedId, firstId };
  }

  holds(id: string): boolean {
    return this.#held.has(id);
  }

  get ids(): string[] {
    return [...this.#held.keys()];
  }

  get usedId(): string | undefined {
    return this.#used?.usedId;
  }

  box(purpose: Purpose): Box {
    return {
      seal: (content, name) => {
        const { usedId } = this.#inUse();
        return `${usedId}${SEPARATOR}${this.#boxOf(usedId, purpose).seal(content, name)}`;
      },
      open: (text, name) => {
        const end = text.indexOf(SEPARATOR);
        const id = end < 0 ? this.#inUse().firstId : text.slice(0, end);
        return this.#boxOf(id, purpose).open(text.slice(end + 1), name);
      },
    };
  }

  #inUse() {
    if (this.#used === undefined) {
      throw new Error('No encryption key is in use yet.');
    }
    return this.#used;
  }

  #boxOf(id: string, purpose: Purpose): SealedBox {
    const name = `${id} ${purpose}`;
    const present = this.#boxes.get(name);
    if (present) {
      return present;
    }
    const key = this.#held.get(id);
    if (key === undefined) {
      throw new SealError(`The value is sealed with the key ${id}, which is not in the key file.`);
    }
    const made = new SealedBox(subkeyOf(key.bytes, purpose));
    this.#boxes.set(name, made);
    return made;
  }
}
