import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../domain/clock.js';
import { ANNOUNCE_EVERY_MS } from '../domain/operator/encryption-keys.js';
import type { SealedPlace, SealStore, UsedEncryptionKey } from '../domain/operator/rows/encryption-keys.js';
import { opened, SealError, SealedBox } from './sealed-box.js';
import { SealingRing } from './sealing-ring.js';
import { type EncryptionKey, LOST_AUDIT_KEY, OTHER_KEY_FILE, SecretsKeyError } from './secrets-key.js';
import { firstTokenKeys, newTokenKeys, subkeyOf, type TokenKeys, tokenKeysBy } from './subkeys.js';

/** Seals made anew in one transaction. */
const PIECE = 100;
/** Finds seals of nodes that learned of the rotation late. */
const RENEW_EVERY_MS = 600_000;
const UNREADABLE = 'the key file cannot be read again';
const WITHOUT_USED = 'the key file no longer holds the encryption key in use, and is left unread';
const UNOPENED = 'some secrets can be opened with no key of the key file';

interface KeyKeeperOptions {
  seals: SealStore;
  keys: readonly EncryptionKey[];
  /** Reads the key file anew. */
  readKeys(): readonly EncryptionKey[];
  /** The name of this node, for operators and other nodes. */
  node: string;
  /** Announced together with the keys. */
  issuer?: string;
  clock: Clock;
  log: Record<'info' | 'error', (message: string, fields?: Record<string, unknown>) => void>;
}

/** Follows the key file and the rotation: the keys this node holds, and the one it seals with. */
export class KeyKeeper {
  readonly ring: SealingRing;
  readonly #options: KeyKeeperOptions;
  #announced = { what: '', at: Number.NEGATIVE_INFINITY };
  #renewAt = Number.NEGATIVE_INFINITY;
  /** The key in use, as of the last look. */
  #newest: string | undefined;
  /** The last fields of each message. It is logged once, until they change or its cause is gone. */
  readonly #complaints = new Map<string, string>();

  constructor(options: KeyKeeperOptions) {
    this.#options = options;
    this.ring = new SealingRing(options.keys);
  }

  /** The key in use, where the key file lacks it: new seals cannot be opened here. */
  get lacking(): string | undefined {
    return this.#newest === undefined || this.ring.holds(this.#newest) ? undefined : this.#newest;
  }

  /** Runs at the start. Refuses a key file of another database before anything is sealed with it. */
  async adopt(): Promise<TokenKeys> {
    const { seals, node } = this.#options;
    try {
      // Announced first, so that a rotation that begins now counts this node.
      await this.#announce();
      await this.#refuseLostAuditKey();
      if ((await seals.keys.all()).length === 0) {
        await this.#begin();
      }
      const used = await seals.keys.all();
      await this.#refuseMissing(used);
      this.#use(used);
      await this.#announce();
      return await this.#tokenKeys();
    } catch (error) {
      await seals.leave(node).catch(() => undefined);
      throw error;
    }
  }

  /** Runs while serving: applies changes of the file and of the database. */
  async look(): Promise<void> {
    this.#readAgain();
    const used = await this.#options.seals.keys.all();
    const newest = used[0]?.id;
    this.#newest = newest;
    if (newest !== undefined && newest !== this.ring.usedId) {
      if (this.ring.holds(newest)) {
        this.#use(used);
        this.#renewAt = Number.NEGATIVE_INFINITY;
        this.#options.log.info('another encryption key is in use', { keyId: newest });
      } else {
        this.#complain('the key file lacks the encryption key in use', { keyId: newest });
      }
    }
    await this.#announce();
  }

  /** The next call of `renew` looks at every seal. */
  renewSoon(): void {
    this.#renewAt = Number.NEGATIVE_INFINITY;
  }

  /** Seals anew what another key sealed, in small transactions. Can be interrupted and run concurrently. */
  async renew(signal: AbortSignal): Promise<{ renewed: number; unopened: number }> {
    const total = { renewed: 0, unopened: 0 };
    const { clock, seals, log } = this.#options;
    const leftMs = this.#renewAt - clock();
    // After the clock was set back, the rest may be longer.
    if (leftMs > 0 && leftMs <= RENEW_EVERY_MS) {
      return total;
    }
    // Set before the pass, so that a call of `renewSoon` during the pass causes another one.
    this.#renewAt = clock() + RENEW_EVERY_MS;
    try {
      for (const place of seals.places) {
        await this.#renewPlace(place, total, signal);
      }
    } catch (error) {
      this.renewSoon();
      throw error;
    }
    if (total.renewed > 0) {
      log.info('secrets were sealed anew', { ...total, keyId: this.ring.usedId });
    }
    if (total.unopened > 0) {
      this.#complain(UNOPENED, { seals: total.unopened });
    } else {
      this.#complaints.delete(UNOPENED);
    }
    return total;
  }

  async leave(): Promise<void> {
    await this.#options.seals.leave(this.#options.node);
  }

  async #renewPlace(place: SealedPlace, total: { renewed: number; unopened: number }, signal: AbortSignal) {
    const { seals } = this.#options;
    const box = this.ring.box(place);
    for (let after = ''; !signal.aborted; ) {
      const found = await seals.notOf(place, this.ring.usedId as string, after, PIECE);
      const replacements = found.flatMap(({ name, sealed }) => {
        const content = opened(() => box.open(sealed, name));
        return content ? [{ name, from: sealed, to: box.seal(content, name) }] : [];
      });
      total.unopened += found.length - replacements.length;
      total.renewed += replacements.length > 0 ? await seals.replace(place, replacements) : 0;
      if (found.length < PIECE) {
        return;
      }
      after = found.at(-1)?.name ?? '';
      // Others take a node for gone that has been silent for long.
      await this.#announce();
      await turn();
    }
  }

  /** For the first start of an environment, or of this version on an older one. */
  async #begin(): Promise<void> {
    const { seals, clock, keys } = this.#options;
    const opens = await this.#openerWithoutId();
    const first = opens ? keys.find(({ bytes }) => opens(bytes)) : keys[0];
    if (first === undefined) {
      throw new SecretsKeyError(OTHER_KEY_FILE);
    }
    const tokenKeys = opens ? firstTokenKeys(first.bytes) : newTokenKeys();
    const ring = new SealingRing([first]);
    ring.use(first.id, first.id);
    const box = ring.box('token-keys');
    await seals.begin(
      { id: first.id, position: 1, activatedAt: clock(), retiredAt: null },
      Object.entries(tokenKeys).map(([purpose, key]) => ({ purpose, sealed: box.seal(key, purpose) })),
    );
  }

  /** Tells whether a key opens a seal that has no id; undefined if there is no such seal. */
  async #openerWithoutId(): Promise<((key: Uint8Array) => boolean) | undefined> {
    for (const place of this.#options.seals.places) {
      const [seal] = await this.#options.seals.withoutId(place);
      if (seal) {
        const { sealed, name } = seal;
        return (key) => opened(() => new SealedBox(subkeyOf(key, place)).open(sealed, name)) !== undefined;
      }
    }
    return undefined;
  }

  async #refuseMissing(used: readonly UsedEncryptionKey[]): Promise<void> {
    const missing = used.filter(({ id }) => !this.ring.holds(id));
    if (missing.length === 0) {
      return;
    }
    const seals = await this.#options.seals.keys.sealCounts();
    const needed = missing.find(({ id }) => id === used[0]?.id || (seals.get(id) ?? 0) > 0);
    if (needed) {
      throw new SecretsKeyError(
        `The database needs the encryption key ${needed.id}, and the key file holds ${this.ring.ids.join(', ')}. Set SECRETS_KEY_FILE to the file that belongs to this database, or copy that file here from another node.`,
      );
    }
  }

  /** A new key would make earlier records unverifiable. The order matters: a node may be making the first. */
  async #refuseLostAuditKey(): Promise<void> {
    const { seals } = this.#options;
    if (
      (await seals.hasAuditChains()) &&
      !(await seals.tokenKeys()).some(({ purpose }) => purpose === 'audit')
    ) {
      throw new SecretsKeyError(LOST_AUDIT_KEY);
    }
  }

  #use(used: readonly UsedEncryptionKey[]): void {
    this.ring.use(used[0]?.id as string, used.at(-1)?.id as string);
  }

  async #tokenKeys(): Promise<TokenKeys> {
    const { seals, clock } = this.#options;
    const box = this.ring.box('token-keys');
    const present = new Set((await seals.tokenKeys()).map(({ purpose }) => purpose));
    // A purpose that this version adds.
    const missing = Object.entries(newTokenKeys()).filter(([purpose]) => !present.has(purpose));
    if (missing.length > 0) {
      const rows = missing.map(([purpose, key]) => ({ purpose, sealed: box.seal(key, purpose) }));
      await seals.addTokenKeys(rows, clock());
    }
    const sealed = new Map((await seals.tokenKeys()).map((row) => [row.purpose, row.sealed]));
    try {
      return tokenKeysBy((purpose) => box.open(sealed.get(purpose) ?? '', purpose));
    } catch (error) {
      throw error instanceof SealError ? new SecretsKeyError(OTHER_KEY_FILE, { cause: error }) : error;
    }
  }

  /** A file that is unusable, or lost the key in use, changes nothing: the held keys stay. */
  #readAgain(): void {
    try {
      const keys = this.#options.readKeys();
      this.#complaints.delete(UNREADABLE);
      const ids = keys.map(({ id }) => id);
      if (isDeepStrictEqual(ids, this.ring.ids)) {
        this.#complaints.delete(WITHOUT_USED);
        return;
      }
      if (!ids.some((id) => id === this.ring.usedId)) {
        this.#complain(WITHOUT_USED, { keyId: this.ring.usedId });
        return;
      }
      this.ring.hold(keys);
      this.#complaints.clear();
      this.#options.log.info('the key file was read again', { keyIds: this.ring.ids });
    } catch (error) {
      this.#complain(UNREADABLE, { reason: (error as Error).message });
    }
  }

  async #announce(): Promise<void> {
    const { seals, node, issuer = null, clock } = this.#options;
    const holder = { node, keyIds: this.ring.ids, usedId: this.ring.usedId ?? null, issuer };
    const what = JSON.stringify(holder);
    const now = clock();
    if (what !== this.#announced.what || Math.abs(now - this.#announced.at) >= ANNOUNCE_EVERY_MS) {
      await seals.announce(holder);
      this.#announced = { what, at: now };
    }
  }

  #complain(message: string, fields: Record<string, unknown>): void {
    const told = JSON.stringify(fields);
    if (told !== this.#complaints.get(message)) {
      this.#complaints.set(message, told);
      this.#options.log.error(message, fields);
    }
  }
}
