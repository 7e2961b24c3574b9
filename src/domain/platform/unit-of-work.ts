import type { EventsByType, EventType } from '../../../generated/asyncapi/events.js';
import type { AccountId, ClientId, InstanceId, UserId, WorkerId } from '../../../generated/ids.js';
import type { CredentialRows } from '../credentials/access.js';
import type { IntegrationNotice, WaitingNotices } from '../credentials/notices.js';
import type { CommonChanges, UnitOfWork } from '../unit-of-work.js';
import type {
  ClientRows,
  InstanceRows,
  JobTitleRows,
  LocationRows,
  RoleRows,
  UnitRows,
  UnitTypeRows,
} from './rows/organization.js';
import type { AccountRows, UserRows, WorkerRows } from './rows/people.js';

/** An event without a receiver; each receiver gets its own copy. */
export interface RecordedEvent<T extends EventType> {
  type: T;
  instanceId: InstanceId;
  clientId: ClientId;
  entity: EventsByType[T]['entity'];
  /** A snapshot; `links.self` has `{instanceIntegrationId}` for the instance integration. */
  data: EventsByType[T]['data'];
}

/**
 * An event of an instance. Its type begins with what it is about: `organization_unit.created` is about the
 * `organizationUnit` whose id is the `organizationUnitId` of the data.
 */
export function eventOn<T extends EventType>(
  instanceId: InstanceId,
  type: T,
  data: EventsByType[T]['data'] & Readonly<Record<`${EventsByType[T]['entity']['type']}Id`, string>>,
): RecordedEvent<T> {
  const [kind = ''] = type.split('.');
  const entityType = kind.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const entity = { type: entityType, id: Reflect.get(data, `${entityType}Id`) } as RecordedEvent<T>['entity'];
  return { type, instanceId, clientId: data.clientId, entity, data };
}

/** Replaced by the receiver's instance integration when the event is sent. */
export const RECEIVER = '{instanceIntegrationId}';

export function linkToClient(clientId: ClientId): string {
  return `/v1/instance-integrations/${RECEIVER}/clients/${clientId}`;
}

export function linkToUser(clientId: ClientId, userId: UserId): string {
  return `${linkToClient(clientId)}/users/${userId}`;
}

export function linkToWorker(clientId: ClientId, workerId: WorkerId): string {
  return `/v2/instance-integrations/${RECEIVER}/clients/${clientId}/workers/${workerId}`;
}

/** For units, unit types and locations, which have no URL of their own: this resource lists them by id. */
export function linkToOrganizationStructure(clientId: ClientId): string {
  return `${linkToClient(clientId)}/organization-structure`;
}

export interface PlatformRows extends CredentialRows {
  readonly instances: InstanceRows;
  readonly clients: ClientRows;
  readonly accounts: AccountRows;
  readonly roles: RoleRows;
  readonly users: UserRows;
  readonly unitTypes: UnitTypeRows;
  readonly units: UnitRows;
  readonly locations: LocationRows;
  readonly jobTitles: JobTitleRows;
  readonly workers: WorkerRows;
  readonly integrationNotices: WaitingNotices<IntegrationNotice>;
}

/** All rows that one write may change, in its transaction. */
export interface Changes extends PlatformRows, CommonChanges {
  /** The only instance that the caller reaches; undefined for all. */
  readonly instanceId?: InstanceId;
  /**
   * Removes all that credentials and sign-ins have about a person, and gives the earlier events of the users
   * and workers that the person was the data of their newest one.
   */
  forgetPerson(person: { accountId: AccountId; memberIds: readonly (UserId | WorkerId)[] }): Promise<void>;
  /** Records events for subscribers; no two about one entity. */
  recordEvent<T extends EventType>(...events: readonly RecordedEvent<T>[]): Promise<void>;
}

export type PlatformUnitOfWork = UnitOfWork<Changes, PlatformRows>;
