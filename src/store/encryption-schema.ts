import type { KeyHolder, UsedEncryptionKey } from '../domain/operator/rows/encryption-keys.js';
import type { Columns } from './columns.js';

/** Tables of encryption keys, from migration 0013. The keys are outside the database. */
export interface EncryptionSchema {
  encryption_keys: Columns<UsedEncryptionKey>;
  encryption_key_holders: EncryptionKeyHoldersTable;
  token_keys: TokenKeysTable;
}

interface EncryptionKeyHoldersTable extends Columns<KeyHolder> {
  /** The last migration that its version knows. */
  newest_migration: string | null;
  seen_at: number;
}

/** The keys of refresh tokens, forms, throttles, idempotency and cursors, sealed. */
interface TokenKeysTable {
  purpose: string;
  sealed: string;
  created_at: number;
}
