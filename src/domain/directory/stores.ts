import type { ClientId, InstanceId, IntegrationId, UserId, WorkerId } from '../../../generated/ids.js';
import type { JsonOf, Schemas } from './contract-json.js';
import type { PageRequest, Position } from './page.js';

/** A resource by its id. */
interface Found<T> {
  id: string;
  json: JsonOf<T>;
}

/** One read of the resources with these ids, a JSON array, in any order. What is missing is left out. */
type FindAll<T> = (ids: string) => Promise<Found<T>[]>;

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
  allOf: FindAll<Schemas['TenantClient']>;
}

export interface WorkerStore {
  /** One read: workers who are not offboarded, oldest first. */
  page(clientId: ClientId, page: PageRequest): Promise<Listed<Schemas['Worker']>[]>;
  /** The same with their place in the organization. */
  pageV2(clientId: ClientId, page: PageRequest): Promise<Listed<Schemas['WorkerV2']>[]>;
  /** Includes offboarded ones. */
  findV2(clientId: ClientId, id: WorkerId): Promise<JsonOf<Schemas['WorkerV2']> | undefined>;
  /** Those who are not offboarded. */
  activeOf: FindAll<Schemas['WorkerV2']>;
}

export interface UserStore {
  /** One read: users of the client who are not DELETED, oldest first. */
  page(clientId: ClientId, page: PageRequest): Promise<Listed<Schemas['User']>[]>;
  /** One read; includes DELETED users. */
  find(clientId: ClientId, id: UserId): Promise<JsonOf<Schemas['User']> | undefined>;
  /** Those who are not DELETED. */
  presentOf: FindAll<Schemas['User']>;
}

export interface OrganizationStore {
  /** All of it, each list oldest first. */
  structureOf(clientId: ClientId): Promise<JsonOf<Schemas['OrganizationStructure']>>;
  /** In byte order. */
  jobTitlesOf(clientId: ClientId): Promise<JsonOf<string[]>>;
  /** The ids are those of clients. If they have very many titles together: only of the first client. */
  jobTitlesOfAll: FindAll<string[]>;
  unitTypesOf: FindAll<Schemas['UnitType']>;
  unitsOf: FindAll<Schemas['Unit']>;
  locationsOf: FindAll<Schemas['OrganizationLocation']>;
}

/** The stores that read rows of one client or instance. */
export interface DirectoryStores {
  clients: ClientStore;
  workers: WorkerStore;
  users: UserStore;
  organization: OrganizationStore;
}

/**
 * Chooses the stores for all rows of one answer: a replica, or the primary. They have the data of the client
 * or instance in this version or a newer one.
 */
export type Nearest = (subjectId: ClientId | InstanceId, version: string) => Promise<DirectoryStores>;

/** The kinds of entities in the sequence of changes, in its order. */
export const ENTITY_TYPES = [
  'client',
  'jobTitles',
  'location',
  'unit',
  'unitType',
  'user',
  'worker',
] as const;
export type EntityType = (typeof ENTITY_TYPES)[number];

/** The place of an entity in the sequence of changes of its instance. */
export interface ChangePosition {
  position: number;
  /** In cursors perhaps one that only a newer release knows. */
  type: string;
  id: string;
}

/** The newest change of an entity. */
export interface StoredChange extends ChangePosition {
  type: EntityType;
  clientId: ClientId;
  version: number;
  removed: boolean;
  changedAt: number;
}

/** A life of the database: each restore begins another, and each promotion of a replica. */
export interface Life {
  life: string;
  /** The last position that a later life took over; null for the present life. */
  lastPosition: number | null;
}

/** Committed changes that no reader gets, because a transaction that began before them is open. */
export interface HeldBack {
  /** At most 10,000 are counted. */
  changes: number;
  /** Of the oldest; 0 if there is none. */
  ageMs: number;
}

export interface ChangeStore {
  /** `end`: every change that commits later has this position or a greater one. */
  lives(): Promise<{ lives: Life[]; end: number }>;
  /** The newest position of the instance, also of changes that are not final yet; 0 if there is none. */
  newestOf(instanceId: InstanceId): Promise<number>;
  /**
   * One read: changes of the instance between two positions, but no removals up to another. Leaves out types
   * of entities that only a newer release knows.
   */
  page(
    instanceId: InstanceId,
    asked: { after: ChangePosition; before: number; removedAfter: number; limit: number },
  ): Promise<StoredChange[]>;
  digestsOf(clientId: ClientId): Promise<{ type: EntityType; entities: number; digest: number }[]>;
  /** The newest position of all instances. */
  newest(): Promise<number>;
  /** Undefined for SQLite, which holds none back: there is one writer. */
  heldBack(): Promise<HeldBack | undefined>;
  /** The instances that changed after a position, and the newest position of all. */
  changedSince(position: number): Promise<{ instanceIds: InstanceId[]; position: number }>;
}
