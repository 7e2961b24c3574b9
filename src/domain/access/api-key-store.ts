import type { IntegrationId } from '../../../generated/ids.js';

export interface StoredApiKey {
  id: string;
  integrationId: IntegrationId;
  /** Version of the integration's own list, read together with the key and so before any row it vouches for. */
  integrationVersion: string;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
}

export interface ApiKeyStore {
  /** One read by the hash of the key, the only form in which keys are kept. */
  findByHash(hash: Uint8Array): Promise<StoredApiKey | undefined>;
  /** One conditional statement: moves the last use forward to `at` unless it already stands at `unlessSince` or later. */
  markUsed(id: string, at: number, unlessSince: number): Promise<void>;
}
