import type { InstanceId, InstanceIntegrationId, IntegrationId } from '../../../../generated/ids.js';
import type { PageRequest } from '../../directory/page.js';
import type { RowsOf } from '../../unit-of-work.js';
import type { Versioned } from '../../version.js';
import type { Credential, KeyStatus } from '../lifetime.js';

/** An external system that reads the gateway and receives webhooks. */
export interface Integration extends Versioned {
  id: IntegrationId;
  name: string;
  /** The address to which the platform mails warnings about the integration. */
  contactEmail: string | null;
}

export interface IntegrationRows extends RowsOf<Integration> {
  /** Newest first. */
  page(page: PageRequest): Promise<Integration[]>;
}

/** An instance integration: the connection between an integration and an instance. */
export interface InstanceIntegration extends Versioned {
  id: InstanceIntegrationId;
  integrationId: IntegrationId;
  instanceId: InstanceId;
  instanceName: string;
  /** Null until it is set up; until then it reaches no client. */
  configuredAt: number | null;
}

interface InstanceIntegrationFilter {
  integrationId?: string;
  instanceId?: string;
  configured?: boolean;
}

export interface InstanceIntegrationRows extends RowsOf<InstanceIntegration> {
  findPair(integrationId: string, instanceId: string): Promise<InstanceIntegration | undefined>;
  /** Newest first. */
  page(page: PageRequest, filter: InstanceIntegrationFilter): Promise<InstanceIntegration[]>;
  delete(id: InstanceIntegrationId): Promise<void>;
}

export interface ApiKey extends Credential {
  integrationId: IntegrationId;
  /** The first characters, to tell keys apart. */
  hint: string;
  version: string;
}

interface ApiKeyFilter {
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
  /** Writes label, expiry, rotation and version; the gatekeeper writes the last use. */
  update(apiKey: ApiKey): Promise<void>;
}
