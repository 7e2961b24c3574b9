import type { ClientId, InstanceId, LocationId, UnitId, UnitTypeId } from '../../../../generated/ids.js';
import type { Address } from '../../directory/names.js';
import type { PageRequest } from '../../directory/page.js';
import type { RowsOf } from '../../unit-of-work.js';
import type { Versioned } from '../../version.js';
import type { SizedPosition } from '../listing.js';

/** One deployment of the platform. */
export interface Instance extends Versioned {
  id: InstanceId;
  name: string;
}

export interface InstanceRows extends RowsOf<Instance> {
  page(page: PageRequest): Promise<Instance[]>;
  /** Public ids of the integrations that list the instance. */
  integrationsOf(id: InstanceId): Promise<string[]>;
}

/** A tenant of an instance. */
export interface Client extends Versioned {
  id: ClientId;
  instanceId: InstanceId;
  name: string;
  address: Address;
}

export interface ClientRows extends RowsOf<Client> {
  page(page: PageRequest, instanceId: string | undefined): Promise<Client[]>;
}

/** Permissions of users of a client. Roles have no public id. */
export interface Role {
  id: string;
  clientId: ClientId;
  name: string;
  /** Made with the client, and immutable. */
  builtIn: boolean;
  /** In the terms of the platform. */
  permissions: string[];
  version: string;
  createdAt: number;
}

export interface RoleRows {
  find(id: string): Promise<Role | undefined>;
  /** The places and sizes of a page. Built-in roles first. */
  sizes(page: PageRequest, clientId: ClientId): Promise<SizedPosition[]>;
  /** Those of the ids that are roles of the client, in the same order. */
  findAll(clientId: ClientId, ids: readonly string[]): Promise<Role[]>;
  count(clientId: ClientId): Promise<number>;
  names(clientId: ClientId): Promise<Set<string>>;
  /** The built-in role Owner. */
  ownerOf(clientId: ClientId): Promise<string | undefined>;
  insert(role: Role): Promise<void>;
  delete(id: string): Promise<void>;
}

/** One layer of a client's organization. */
export interface UnitType extends Versioned {
  id: UnitTypeId;
  clientId: ClientId;
  name: string;
}

/** Rows of a client, each with a name of its own within it. */
interface NamedRows<Row extends { id: string }> extends RowsOf<Row> {
  findByName(clientId: ClientId, name: string): Promise<Row | undefined>;
  page(page: PageRequest, clientId: ClientId): Promise<Row[]>;
  count(clientId: ClientId): Promise<number>;
  delete(id: Row['id']): Promise<void>;
}

export interface UnitTypeRows extends NamedRows<UnitType> {
  hasUnits(id: UnitTypeId): Promise<boolean>;
}

/** One unit of a layer. */
export interface Unit extends Versioned {
  id: UnitId;
  clientId: ClientId;
  unitTypeId: UnitTypeId;
  name: string;
  unitCode: string | null;
  description: string | null;
  parentUnitId: UnitId | null;
}

interface UnitFilter {
  unitTypeId?: string;
  parentUnitId?: string;
}

export interface UnitRows extends RowsOf<Unit> {
  /** Those of the ids that are units of the client, in any order. */
  findAll(clientId: ClientId, ids: readonly string[]): Promise<Unit[]>;
  page(page: PageRequest, clientId: ClientId, filter: UnitFilter): Promise<Unit[]>;
  /**
   * One statement: whether the unit is the other one, or somewhere below it. Looks at so many units at most,
   * from the unit upwards; undefined if there are more.
   */
  isBelow(id: UnitId, other: UnitId, limit?: number): Promise<boolean | undefined>;
  count(clientId: ClientId): Promise<number>;
  delete(id: UnitId): Promise<void>;
}

/** A place to which workers of a client belong. */
export interface Location extends Versioned {
  id: LocationId;
  clientId: ClientId;
  name: string;
  address: Address;
}

export type LocationRows = NamedRows<Location>;

/** The titles of a client; a title is identified by its text. */
export interface JobTitleRows {
  has(clientId: ClientId, title: string): Promise<boolean>;
  /** In byte order. */
  page(clientId: ClientId, after: string | undefined, limit: number): Promise<string[]>;
  count(clientId: ClientId): Promise<number>;
  /** Adds missing titles, and returns their number. */
  add(clientId: ClientId, titles: readonly string[]): Promise<number>;
  remove(clientId: ClientId, title: string): Promise<void>;
}
