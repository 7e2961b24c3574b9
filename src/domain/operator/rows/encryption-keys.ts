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
}
