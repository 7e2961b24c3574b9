import type { ClientId, InstanceId, IntegrationId, UserId, WorkerId } from '../../../generated/ids.js';
import type { JsonOf, Schemas } from './contract-json.js';
import type { PageRequest, Position } from './page.js';

/** A row of a list. Its position is not part of what an integration reads. */
export interface Listed<T> extends Position {
  json: JsonOf<T>;
}

export interface InstanceIntegrationStore {
  /** One read: all instance integrations of the integration, oldest first, set up or not. */
  listOf(integrationId: IntegrationId): Promise<JsonOf<Schemas['InstanceIntegration'][]>>;
}

export interface ClientStore {
  /** One read: clients of the instance, oldest first. */
  page(instanceId: InstanceId, page: PageRequest): Promise<Listed<Schemas['TenantClient']>[]>;
  find(id: ClientId): Promise<JsonOf<Schemas['TenantClient']> | undefined>;
}

export interface WorkerStore {
  /** One read: workers who are not offboarded, oldest first. */
  page(clientId: ClientId, page: PageRequest): Promise<Listed<Schemas['Worker']>[]>;
  /** The same with their place in the organization. */
  pageV2(clientId: ClientId, page: PageRequest): Promise<Listed<Schemas['WorkerV2']>[]>;
  /** Includes offboarded ones. */
  findV2(clientId: ClientId, id: WorkerId): Promise<JsonOf<Schemas['WorkerV2']> | undefined>;
}

export interface UserStore {
  /** One read: users of the client who are not DELETED, oldest first. */
  page(clientId: ClientId, page: PageRequest): Promise<Listed<Schemas['User']>[]>;
  /** One read; includes DELETED users. */
  find(clientId: ClientId, id: UserId): Promise<JsonOf<Schemas['User']> | undefined>;
}

export interface OrganizationStore {
  /** All of it, each list oldest first. */
  structureOf(clientId: ClientId): Promise<JsonOf<Schemas['OrganizationStructure']>>;
  /** In byte order. */
  jobTitlesOf(clientId: ClientId): Promise<JsonOf<string[]>>;
}
