import type { ClientId, InstanceId, InstanceIntegrationId, IntegrationId } from '../../../generated/ids.js';
import type { MarkUsed } from './last-use.js';

export interface StoredApiKey {
  id: string;
  integrationId: IntegrationId;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
}

/** What the path of a read names, as far as the key reaches it; what it does not reach is absent, like what does not exist. */
export interface Reached {
  /** The instance integration, if it is one of the key's integration. */
  connection?: { instanceId: InstanceId; configured: boolean };
  /** The client, if it is one of that connection's instance. */
  client?: ClientId;
}

export interface FoundVisit extends Reached {
  key: StoredApiKey;
  /** Version of what the answer is about, read together with the key and so before any row it vouches for. */
  version: string;
}

/** The key and what it reaches, each in one read, by the hash of the key: the only form in which keys are kept. */
export interface VisitStore {
  /** The version is the integration's. */
  findKey(hash: Uint8Array): Promise<FoundVisit | undefined>;
  /** The version is the instance's. */
  findConnection(hash: Uint8Array, id: InstanceIntegrationId): Promise<FoundVisit | undefined>;
  /** The version is the client's. */
  findClient(
    hash: Uint8Array,
    id: InstanceIntegrationId,
    clientId: ClientId,
  ): Promise<FoundVisit | undefined>;
  markUsed: MarkUsed;
}
