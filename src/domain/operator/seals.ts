import type { EncryptionKeyRows, KeyHolder, UsedEncryptionKey } from './rows/encryption-keys.js';

/** The columns with seals, by the purpose of their subkey. */
export type SealedPlace = 'signing-keys' | 'webhook-secrets' | 'token-keys';

/** A seal, and the name it was made for. */
export interface Seal {
  name: string;
  sealed: string;
}

/** The store of key maintenance. */
export interface SealStore {
  readonly keys: Pick<EncryptionKeyRows, 'all' | 'sealCounts'>;
  readonly places: readonly SealedPlace[];
  /** One transaction: the first key with the token keys; nothing if another node was faster. */
  begin(first: UsedEncryptionKey, tokenKeys: readonly { purpose: string; sealed: string }[]): Promise<void>;
  tokenKeys(): Promise<{ purpose: string; sealed: string }[]>;
  /** Adds keys of purposes without one; of concurrent nodes, the first does. */
  addTokenKeys(tokenKeys: readonly { purpose: string; sealed: string }[], now: number): Promise<void>;
  /** Whether records exist that need the audit key. */
  hasAuditChains(): Promise<boolean>;
  /** By the clock of the database. */
  announce(holder: KeyHolder): Promise<void>;
  leave(node: string): Promise<void>;
  /** One seal without a key id (first releases), if any. */
  withoutId(place: SealedPlace): Promise<Seal[]>;
  /** Seals of other keys, by name. */
  notOf(place: SealedPlace, keyId: string, after: string, limit: number): Promise<Seal[]>;
  /** One transaction. Skips rows that changed since they were read, and returns the number replaced. */
  replace(
    place: SealedPlace,
    replacements: readonly { name: string; from: string; to: string }[],
  ): Promise<number>;
}
