import type { InstanceId, InstanceIntegrationId, IntegrationId } from '../../../generated/ids.js';
import type { Gatekeeper } from '../access/gatekeeper.js';
import { type Answer, isKnown, type KnownVersions } from './answer.js';

/** The connection between an integration and one instance of the platform. */
export interface InstanceIntegration {
  id: InstanceIntegrationId;
  instanceId: InstanceId;
  instanceName: string;
  createdAt: number;
  updatedAt: number;
}

export interface InstanceIntegrationStore {
  /** One read: all connections of the integration, oldest first, set up or not. */
  listOf(integrationId: IntegrationId): Promise<InstanceIntegration[]>;
}

export async function listInstanceIntegrations(
  gatekeeper: Gatekeeper,
  store: InstanceIntegrationStore,
  keyHash: Uint8Array,
  known: KnownVersions,
): Promise<Answer<InstanceIntegration[]>> {
  const visitor = await gatekeeper.admit(keyHash);
  const version = visitor.integrationVersion;
  const content = isKnown(version, known) ? undefined : await store.listOf(visitor.integrationId);
  return { visitor, version, content };
}
