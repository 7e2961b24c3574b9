import type { InstanceId, InstanceIntegrationId, IntegrationId } from '../../../../generated/ids.js';
import type { PageRequest } from '../../directory/page.js';

/** An instance integration: the connection between an integration and an instance. */
export interface InstanceIntegration {
  id: InstanceIntegrationId;
  integrationId: IntegrationId;
  instanceId: InstanceId;
  instanceName: string;
  /** Null until it is set up; until then it reaches no client. */
  configuredAt: number | null;
  version: string;
  createdAt: number;
  updatedAt: number;
}

export interface InstanceIntegrationFilter {
  integrationId?: string;
  instanceId?: string;
  configured?: boolean;
}

export interface InstanceIntegrationRows {
  find(id: string): Promise<InstanceIntegration | undefined>;
  findPair(integrationId: string, instanceId: string): Promise<InstanceIntegration | undefined>;
  /** Newest first. */
  page(page: PageRequest, filter: InstanceIntegrationFilter): Promise<InstanceIntegration[]>;
  insert(instanceIntegration: InstanceIntegration): Promise<void>;
  update(instanceIntegration: InstanceIntegration): Promise<void>;
  delete(id: InstanceIntegrationId): Promise<void>;
}
