/** Tables of encryption keys, from migration 0013. */
export interface EncryptionSchema {
  encryption_keys: EncryptionKeysTable;
  encryption_key_holders: EncryptionKeyHoldersTable;
  token_keys: TokenKeysTable;
}

/** Encryption keys, present and past; the highest position is in use. The keys are outside the database. */
interface EncryptionKeysTable {
  id: string;
  position: number;
  activated_at: number;
  retired_at: number | null;
}

/** A running domain node, with the ids in its key file. */
interface EncryptionKeyHoldersTable {
  node: string;
  /** JSON array. */
  key_ids: string;
  used_id: string | null;
  /** Its SIGN_ON_URL; null for a command or a node of an earlier release. */
  issuer: string | null;
  /** The last migration that its version knows. */
  newest_migration: string | null;
  seen_at: number;
}

/** The keys of refresh tokens, forms, throttles and idempotency, sealed. */
interface TokenKeysTable {
  purpose: string;
  sealed: string;
  created_at: number;
}
