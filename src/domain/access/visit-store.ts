import type { ClientId, InstanceId, InstanceIntegrationId } from '../../../generated/ids.js';
import type { ApiKey } from '../operator/rows/integrations.js';
import type { MarkUsed } from './last-use.js';

export type StoredApiKey = Omit<ApiKey, 'label' | 'hint' | 'version' | 'createdAt'>;

/** What the path names and the key reaches. What it does not reach is absent, as if it did not exist. */
export interface Reached {
  /** The instance integration, if it belongs to the key's integration. */
  instanceIntegration?: { instanceId: InstanceId; configured: boolean };
  /** The client, if it belongs to the instance integration's instance. */
  client?: ClientId;
}

export interface FoundVisit extends Reached {
  key: StoredApiKey;
  /** The version of the data, read together with the key and so before the rows. */
  version: string;
}

/** The key and what it reaches, in one read, by the hash of the key; only hashes are stored. */
export interface VisitStore {
  /** The version is the integration's. */
  findKey(hash: Uint8Array): Promise<FoundVisit | undefined>;
  /** The version is the instance's. */
  findInstanceIntegration(hash: Uint8Array, id: InstanceIntegrationId): Promise<FoundVisit | undefined>;
  /** The version is the client's. */
  findClient(
    hash: Uint8Array,
    id: InstanceIntegrationId,
    clientId: ClientId,
  ): Promise<FoundVisit | undefined>;
  markUsed: MarkUsed;
}
