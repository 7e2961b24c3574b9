import type { IntegrationId } from '../../../../generated/ids.js';
import type { PageRequest } from '../../directory/page.js';
import type { KeyStatus } from '../lifetime.js';

/** A credential of an integration, without the key itself. */
export interface ApiKey {
  id: string;
  integrationId: IntegrationId;
  label: string;
  /** The first characters, to tell keys apart. */
  hint: string;
  version: string;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
}

export interface ApiKeyFilter {
  integrationId?: string;
  status?: KeyStatus;
  /** The time for which the status is computed. */
  now: number;
}

export interface ApiKeyRows {
  find(id: string): Promise<ApiKey | undefined>;
  /** Newest first. */
  page(page: PageRequest, filter: ApiKeyFilter): Promise<ApiKey[]>;
  insert(apiKey: ApiKey, hash: Uint8Array): Promise<void>;
  /** Writes label, expiry and version; the gatekeeper writes the last use. */
  update(apiKey: ApiKey): Promise<void>;
}
