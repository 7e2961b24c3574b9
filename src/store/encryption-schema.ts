/** The tables of the encryption keys, which migration 0013 began. */
export interface EncryptionSchema {
  encryption_keys: EncryptionKeysTable;
  encryption_key_holders: EncryptionKeyHoldersTable;
  token_keys: TokenKeysTable;
}

/** Keys that are or were in use; the highest position is in use. The keys themselves stand outside the database. */
interface EncryptionKeysTable {
  id: string;
  position: number;
  activated_at: number;
  retired_at: number | null;
}

/** A running domain node, and what its key file holds. */
interface EncryptionKeyHoldersTable {
  node: string;
  /** JSON array. */
  key_ids: string;
  used_id: string | null;
  seen_at: number;
}

/** The keys behind refresh tokens, forms, throttles and idempotency, sealed for their purpose. */
interface TokenKeysTable {
  purpose: string;
  sealed: string;
  created_at: number;
}
