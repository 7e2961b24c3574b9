/** An encryption key that is or was in use. Only the key file has the key itself. */
export interface UsedEncryptionKey {
  id: string;
  /** From 1; the highest is in use. */
  position: number;
  activatedAt: number;
  retiredAt: number | null;
}

/** A domain node, and the keys in its key file. */
export interface KeyHolder {
  node: string;
  keyIds: readonly string[];
  /** The key that it seals with. */
  usedId: string | null;
  /** The issuer of its tokens; null for a command or a node of an earlier release. */
  issuer: string | null;
}

export interface EncryptionKeyRows {
  /** Newest first. */
  all(): Promise<UsedEncryptionKey[]>;
  /** False if another key has this position. */
  insert(key: UsedEncryptionKey): Promise<boolean>;
  /** False if retired before. From here on no transaction commits new seals of the key: counts are final. */
  retire(id: string, now: number): Promise<boolean>;
  /** The nodes that are not gone. */
  holders(): Promise<KeyHolder[]>;
  /** How many seals each key has made. */
  sealCounts(): Promise<Map<string, number>>;
}
