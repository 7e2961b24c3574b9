/** An encryption key that is or was in use. Only the key file has the key itself. */
export interface UsedEncryptionKey {
  id: string;
  /** Counts from 1; the key with the highest position is in use. */
  position: number;
  activatedAt: number;
  retiredAt: number | null;
}

/** A domain node, and the keys in its key file. */
export interface KeyHolder {
  node: string;
  keyIds: readonly string[];
  /** The key that it encrypts new values with. */
  usedId: string | null;
  /** The issuer of its tokens; null for a command or a node of an earlier release. */
  issuer: string | null;
}

export interface EncryptionKeyRows {
  /** Newest first. */
  all(): Promise<UsedEncryptionKey[]>;
  /** False if another key already has this position. */
  insert(key: UsedEncryptionKey): Promise<boolean>;
  /** False if it was retired before. No later commit contains new seals of the key: its count is final. */
  retire(id: string, now: number): Promise<boolean>;
  /** The nodes that have announced themselves recently. */
  holders(): Promise<KeyHolder[]>;
  /** The number of stored seals (encrypted values) per key. */
  sealCounts(): Promise<Map<string, number>>;
  /** Those that only a newer release knows, which may have added seals that `sealCounts` does not count. */
  newerMigrations(): Promise<string[]>;
}

/** The columns with seals, by the purpose of their subkey. */
export type SealedPlace = 'signing-keys' | 'webhook-secrets' | 'token-keys';

/** A seal, and the name it was made for. */
interface Seal {
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
