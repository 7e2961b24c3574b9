import { isObject } from './exchange.js';
import { OrganizationLocationFromJSON } from './generated/gateway/models/OrganizationLocation.js';
import { TenantClientFromJSON } from './generated/gateway/models/TenantClient.js';
import { UnitFromJSON } from './generated/gateway/models/Unit.js';
import { UnitTypeFromJSON } from './generated/gateway/models/UnitType.js';
import { UserFromJSON } from './generated/gateway/models/User.js';
import { WorkerV2FromJSON } from './generated/gateway/models/WorkerV2.js';
import type { OrganizationLocation, TenantClient, Unit, UnitType, User, WorkerV2 } from './models.js';
import type { Parse, ReadOptions } from './reader.js';

/** The records in the sequence of changes, by the type of the entity. */
export interface ResourcesByType {
  client: TenantClient;
  /** One per client: the job titles that it uses. */
  jobTitles: string[];
  location: OrganizationLocation;
  unit: Unit;
  unitType: UnitType;
  user: User;
  worker: WorkerV2;
}

export type EntityType = keyof ResourcesByType;

interface Place {
  /** Continue from here: the `after` of the next read, once the item is stored. */
  cursor: string;
  /** The public id of the entity; for `jobTitles`, that of the client. */
  id: string;
  clientId: string;
  /** For people; the order is that of the items. */
  changedAt: Date;
  /** Each change of the entity replaces it. Digests are sums of it. */
  version: number;
}

type State<Resource> =
  | { removed: true; resource: null; json: null }
  | {
      removed: false;
      resource: Resource;
      /** The resource as JSON, with members unknown to this release and the numbers of JavaScript. */
      json: string;
    };

/** A change of one type of entity. */
export type ChangeOf<Type extends EntityType> = Place & { type: Type } & State<ResourcesByType[Type]>;

/** For the compiler only: any future entity type, so that comparing `type` narrows. */
declare enum UnknownEntityType {
  Any = 'a type that this release does not know',
}

/** A change of an entity of a type unknown to this release. `resource` is plain JSON. */
export type UnknownChange = Place & { type: UnknownEntityType.Any } & State<unknown>;

/** An entity at the place of its newest change. Comparing `type` and `removed` narrows `resource`. */
export type Change = { [Type in EntityType]: ChangeOf<Type> }[EntityType] | UnknownChange;

export interface ChangesOptions extends ReadOptions {
  /** The cursor of the last item that you stored. `null` begins with all that exists. */
  after?: string | null | undefined;
  /** How many items at most, 1 to 1000; the gateway sends 500 at most. */
  limit?: number | undefined;
  /** How long to wait for a change if there is none, 0 to 25. Added to `timeoutMs`. Default: 0. */
  waitSeconds?: number | undefined;
}

/** Items of the sequence of changes. */
export interface Changes {
  readonly items: readonly Change[];
  /** Where to continue: the cursor of the last item, or your own if there are none. */
  readonly cursor: string | null;
  /** Whether more items follow already. */
  readonly hasMore: boolean;
}

const PARSERS: { readonly [Type in EntityType]: Parse<ResourcesByType[Type]> } = {
  client: TenantClientFromJSON,
  jobTitles: (json) => (json as unknown[]).map(String),
  location: OrganizationLocationFromJSON,
  unit: UnitFromJSON,
  unitType: UnitTypeFromJSON,
  user: UserFromJSON,
  worker: WorkerV2FromJSON,
};

export function changeFrom(json: unknown): Change {
  const changedAt = new Date(String(isObject(json) && json.changedAt));
  const isComplete = isObject(json) && isObject(json.entity) && typeof json.cursor === 'string';
  if (!isComplete || Number.isNaN(changedAt.getTime())) {
    throw new TypeError('The item is not a change.');
  }
  const { cursor, entity, clientId, version, removed, resource } = json;
  const { type, id } = entity as Record<string, unknown>;
  const place = { cursor, type, id, clientId, changedAt, version };
  const state = removed
    ? { removed: true, resource: null, json: null }
    : { removed: false, resource: parsed(String(type), resource), json: JSON.stringify(resource) };
  return { ...place, ...state } as Change;
}

/** Plain JSON for types and shapes newer than this release, so that one of them holds up no others. */
function parsed(type: string, resource: unknown): unknown {
  try {
    return Object.hasOwn(PARSERS, type) ? PARSERS[type as EntityType](resource) : resource;
  } catch {
    return resource;
  }
}
