import type { EncryptionKeyRows, KeyHolder, UsedEncryptionKey } from './encryption-keys.js';

/** The columns that hold seals, each by the purpose of its subkey. */
export type SealedPlace = 'signing-keys' | 'webhook-secrets' | 'token-keys';

/** What is sealed, and the name that it was sealed for. */
export interface Seal {
  name: string;
  sealed: string;
}

/** What a node does with the encryption keys by itself. */
export interface SealStore {
  readonly keys: Pick<EncryptionKeyRows, 'all' | 'sealCounts'>;
  readonly places: readonly SealedPlace[];
  /** One transaction: the first key with the keys of tokens, and nothing where another node was quicker. */
  begin(first: UsedEncryptionKey, tokenKeys: readonly { purpose: string; sealed: string }[]): Promise<void>;
  tokenKeys(): Promise<{ purpose: string; sealed: string }[]>;
  /** Those of purposes that have none yet; of several nodes that add one, the first does. */
  addTokenKeys(tokenKeys: readonly { purpose: string; sealed: string }[], now: number): Promise<void>;
  /** By the clock of the database. */
  /** Whether there are audit records that the audit key vouches for. */
  hasAuditChains(): Promise<boolean>;
  announce(holder: KeyHolder): Promise<void>;
  leave(node: string): Promise<void>;
  /** One seal of a release that gave them no id, if there is any. */
  withoutId(place: SealedPlace): Promise<Seal[]>;
  /** Seals of other keys, in the order of their names. */
  notOf(place: SealedPlace, keyId: string, after: string, limit: number): Promise<Seal[]>;
  /** One transaction. Leaves alone what has changed since it was read, and answers how many it replaced. */
  replace(
    place: SealedPlace,
    replacements: readonly { name: string; from: string; to: string }[],
  ): Promise<number>;
}
