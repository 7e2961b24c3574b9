// Made by `make generate` from the contracts. Do not edit.
/**
 * Public id of an event. The same in every delivery of that event: dedupe on it.
 */
export type EventId = `evt_${string}`;
/**
 * Orders the events of one `entity` as their changes were made: of two, the one with the greater number is newer, also where `occurredAt` is the same. It says nothing about events of different entities, and differences between numbers mean nothing.
 */
export type EventSequence = number;
/**
 * `true` in a test event, which the operator sent on request; absent in all others. Nothing happened: `entity` and `data` are the sample of this document, and `links.self` leads to the sample of its client, user, worker or organization structure at the gateway. That sample is the same for all event types, so it can differ from `data`.
 */
export type TestMark = true;
/**
 * Public id of a client: a tenant of an instance.
 */
export type ClientId = `cli_${string}`;
/**
 * Public id of a user: a person who can sign in to the dashboard on behalf of a client.
 */
export type UserId = `usr_${string}`;
/**
 * An email address in ASCII of at most 254 characters, with an international domain in Punycode. The platform
 * accepts no other. A person whose address is older than this rule keeps it for signing in; here it is shown in
 * Punycode where that suffices, otherwise as an address of the reserved domain `address.invalid`. A person who was
 * erased has an address of the reserved domain `erased.invalid`.
 */
export type EmailAddress = string;
/**
 * The status of a user:
 *
 * - `INVITED`: the person has not signed in as this user yet.
 * - `ACTIVE`: may sign in. An invited user becomes active when the person first signs in as this user.
 * - `INACTIVE`: was disabled by an administrator and may not sign in.
 * - `DELETED`: was removed. Omitted from lists; can be read by id.
 */
export type UserStatus = "ACTIVE" | "INACTIVE" | "INVITED" | "DELETED";
/**
 * Public id of an organization unit, such as the department Engineering.
 */
export type UnitId = `oun_${string}`;
/**
 * Public id of an organization unit type: a layer of the structure of a client, such as Department.
 */
export type UnitTypeId = `out_${string}`;
/**
 * Public id of an organization location: a place where a client has workers.
 */
export type LocationId = `olo_${string}`;
/**
 * Public id of a worker: an employee or contractor of a client who receives payroll.
 */
export type WorkerId = `wrk_${string}`;

/**
 * The headers of every delivery.
 */
export interface WebhookHeaders {
  /**
   * The body is JSON, in UTF-8.
   */
  "Content-Type": "application/json";
  /**
   * The sender and its version.
   */
  "User-Agent": string;
  "webhook-id": EventId;
  /**
   * When this attempt was sent, in whole seconds since 1970. Each attempt has its own.
   */
  "webhook-timestamp": string;
  /**
   * `v1,` and the base64 of the HMAC-SHA256 of the signed content. While a secret is being replaced there is one signature for each secret in force, with a space between them; one that verifies is enough.
   */
  "webhook-signature": string;
  /**
   * The trace of the change, by W3C Trace Context. Sent only while the operator of the service traces requests, and not signed.
   */
  traceparent?: string;
}
/**
 * A new client was created on an instance. Its workers, users and structure are not embedded; each has events of its own.
 */
export interface ClientCreatedEvent {
  id: EventId;
  /**
   * Type of the event.
   */
  type: "client.created";
  /**
   * Version of the envelope. Added members do not change it.
   */
  specVersion: 1;
  /**
   * Version of `data`. Added members do not change it.
   */
  dataVersion: 1;
  /**
   * When it happened. ISO 8601, UTC.
   */
  occurredAt: string;
  sequence: EventSequence;
  test?: TestMark;
  entity: ClientEntity;
  data: ClientCreatedData;
}
/**
 * The client, the same as `data.clientId`.
 */
export interface ClientEntity {
  /**
   * Kind of the thing the event is about.
   */
  type: "client";
  id: ClientId;
}
/**
 * The client as it was when the event happened. Mind that the address is called `address` here and `location` in the gateway.
 */
export interface ClientCreatedData {
  clientId: ClientId;
  /**
   * Name of the client.
   */
  name: string;
  address: Address;
  links: ClientLinks;
}
/**
 * A postal address. All six members are always present; what is not known is `null`.
 */
export interface Address {
  /**
   * Street and number.
   */
  address1: string | null;
  /**
   * Floor, suite or building.
   */
  address2: string | null;
  /**
   * City or town.
   */
  city: string | null;
  /**
   * Country, as two capital letters of ISO 3166-1 alpha-2.
   */
  isoCountryCode: string | null;
  /**
   * Postal or ZIP code.
   */
  postalCode: string | null;
  /**
   * Code of the state or province.
   */
  zoneCode: string | null;
}
/**
 * Where to read the client.
 */
export interface ClientLinks {
  /**
   * Path to read with GET at the gateway, with your API key. Your own instance integration is already in it.
   */
  self: string;
}
/**
 * A user was created, and has by now the manager and the role that it begins with, if any: either can be `null`.
 */
export interface UserCreatedEvent {
  id: EventId;
  /**
   * Type of the event.
   */
  type: "user.created";
  /**
   * Version of the envelope. Added members do not change it.
   */
  specVersion: 1;
  /**
   * Version of `data`. Added members do not change it.
   */
  dataVersion: 1;
  /**
   * When it happened. ISO 8601, UTC.
   */
  occurredAt: string;
  sequence: EventSequence;
  test?: TestMark;
  entity: UserEntity;
  data: UserEventData;
}
/**
 * The user, the same as `data.userId`.
 */
export interface UserEntity {
  /**
   * Kind of the thing the event is about.
   */
  type: "user";
  id: UserId;
}
/**
 * The user as it was when the event happened: the record of the gateway, and where to read it.
 */
export interface UserEventData {
  userId: UserId;
  clientId: ClientId;
  email: EmailAddress;
  /**
   * Given name, or `null`.
   */
  firstName: string | null;
  /**
   * Family name, or `null`.
   */
  lastName: string | null;
  /**
   * Whole name, or `null`.
   */
  fullName: string | null;
  status: UserStatus;
  /**
   * The one manager of the user, or `null`. A single object, never an array.
   */
  manager: UserManager | null;
  /**
   * The access role of the user, at most one, or `null`. Match roles by `name`.
   */
  role: UserRole | null;
  /**
   * When the user was created. Never changes. ISO 8601, UTC.
   */
  createdAt: string;
  links: UserLinks;
}
/**
 * The manager of a user, who is a user of the same client.
 */
export interface UserManager {
  id: UserId;
  /**
   * Given name, or `null`.
   */
  firstName: string | null;
  /**
   * Family name, or `null`.
   */
  lastName: string | null;
  /**
   * Whole name, in the order in which the platform shows it, or `null`.
   */
  fullName: string | null;
  email: EmailAddress;
}
/**
 * The access role of a user. Match roles by `name`: editing the permissions of a user can put a new custom role, with a new `id`, in the place of the old one.
 */
export interface UserRole {
  /**
   * Internal id of the access role. It is not a public id, has no fixed shape and opens no endpoint.
   */
  id: string;
  /**
   * Name of the role, such as Owner or Admin, or the name of a custom role.
   */
  name: string;
}
/**
 * Where to read the user.
 */
export interface UserLinks {
  /**
   * Path to read with GET at the gateway, with your API key. Your own instance integration is already in it.
   */
  self: string;
}
/**
 * The email, a name, the status, the manager or the role of a user changed. Editing the permissions of a user can put a new custom role in the place of the old one, which is a change of role. The event may come before `user.created` or before `client.created`: insert or update by `userId`. A new name or address of the manager comes as an event of the manager alone, although the `manager` of these users changes: look managers up by `manager.id`, read the list of users, or follow `listChanges`, which has these users too. A deleted user has another event only if its role is deleted, or if the person is erased: then the names are `null` and the email is replaced. Erase them in your copy too.
 */
export interface UserUpdatedEvent {
  id: EventId;
  /**
   * Type of the event.
   */
  type: "user.updated";
  /**
   * Version of the envelope. Added members do not change it.
   */
  specVersion: 1;
  /**
   * Version of `data`. Added members do not change it.
   */
  dataVersion: 1;
  /**
   * When it happened. ISO 8601, UTC.
   */
  occurredAt: string;
  sequence: EventSequence;
  test?: TestMark;
  entity: UserEntity;
  data: UserEventData;
}
/**
 * A unit of the organization structure was created. Comes once for each unit, those created together with their unit type included. It may come before the event of its parent unit or of its unit type.
 */
export interface OrganizationUnitCreatedEvent {
  id: EventId;
  /**
   * Type of the event.
   */
  type: "organization_unit.created";
  /**
   * Version of the envelope. Added members do not change it.
   */
  specVersion: 1;
  /**
   * Version of `data`. Added members do not change it.
   */
  dataVersion: 1;
  /**
   * When it happened. ISO 8601, UTC.
   */
  occurredAt: string;
  sequence: EventSequence;
  test?: TestMark;
  entity: OrganizationUnitEntity;
  data: OrganizationUnitCreatedData;
}
/**
 * The unit, the same as `data.organizationUnitId`.
 */
export interface OrganizationUnitEntity {
  /**
   * Kind of the thing the event is about.
   */
  type: "organizationUnit";
  id: UnitId;
}
/**
 * The unit as it was when the event happened.
 */
export interface OrganizationUnitCreatedData {
  organizationUnitId: UnitId;
  clientId: ClientId;
  /**
   * Name of the unit.
   */
  name: string;
  /**
   * The code the client has for the unit in its own systems, or `null`.
   */
  unitCode: string | null;
  /**
   * What the unit is, in the client's words, or `null`.
   */
  description: string | null;
  unitType: NamedUnitType;
  /**
   * The unit above this one, or `null` for a top-level unit.
   */
  parentUnit: NamedUnit | null;
  /**
   * When the unit was created. ISO 8601, UTC.
   */
  createdAt: string;
  links: OrganizationStructureLinks;
}
/**
 * A reference to an organization unit type, with its name.
 */
export interface NamedUnitType {
  id: UnitTypeId;
  /**
   * Name of the unit type.
   */
  name: string;
}
/**
 * A reference to an organization unit, with its name.
 */
export interface NamedUnit {
  id: UnitId;
  /**
   * Name of the unit.
   */
  name: string;
}
/**
 * Where to read the organization structure, in which to find the thing by its id.
 */
export interface OrganizationStructureLinks {
  /**
   * Path to read with GET at the gateway, with your API key. Your own instance integration is already in it.
   */
  self: string;
}
/**
 * A layer of the organization structure was created. The units created with it are embedded, and each also has its own `organization_unit.created`.
 */
export interface OrganizationUnitTypeCreatedEvent {
  id: EventId;
  /**
   * Type of the event.
   */
  type: "organization_unit_type.created";
  /**
   * Version of the envelope. Added members do not change it.
   */
  specVersion: 1;
  /**
   * Version of `data`. Added members do not change it.
   */
  dataVersion: 1;
  /**
   * When it happened. ISO 8601, UTC.
   */
  occurredAt: string;
  sequence: EventSequence;
  test?: TestMark;
  entity: OrganizationUnitTypeEntity;
  data: OrganizationUnitTypeCreatedData;
}
/**
 * The unit type, the same as `data.organizationUnitTypeId`.
 */
export interface OrganizationUnitTypeEntity {
  /**
   * Kind of the thing the event is about.
   */
  type: "organizationUnitType";
  id: UnitTypeId;
}
/**
 * The unit type as it was when the event happened, with the units created together with it.
 */
export interface OrganizationUnitTypeCreatedData {
  organizationUnitTypeId: UnitTypeId;
  clientId: ClientId;
  /**
   * Name of the layer.
   */
  name: string;
  /**
   * The units created together with the unit type. May be empty.
   */
  units: EmbeddedUnit[];
  /**
   * When the unit type was created. ISO 8601, UTC.
   */
  createdAt: string;
  links: OrganizationStructureLinks;
}
/**
 * A unit created together with its unit type.
 */
export interface EmbeddedUnit {
  organizationUnitId: UnitId;
  /**
   * Name of the unit.
   */
  name: string;
  /**
   * The code the client has for the unit in its own systems, or `null`.
   */
  unitCode: string | null;
  /**
   * What the unit is, in the client's words, or `null`.
   */
  description: string | null;
  /**
   * The unit above this one, or `null` for a top-level unit.
   */
  parentUnit: NamedUnit | null;
}
/**
 * A location of a client was created.
 */
export interface OrganizationLocationCreatedEvent {
  id: EventId;
  /**
   * Type of the event.
   */
  type: "organization_location.created";
  /**
   * Version of the envelope. Added members do not change it.
   */
  specVersion: 1;
  /**
   * Version of `data`. Added members do not change it.
   */
  dataVersion: 1;
  /**
   * When it happened. ISO 8601, UTC.
   */
  occurredAt: string;
  sequence: EventSequence;
  test?: TestMark;
  entity: OrganizationLocationEntity;
  data: OrganizationLocationCreatedData;
}
/**
 * The location, the same as `data.organizationLocationId`.
 */
export interface OrganizationLocationEntity {
  /**
   * Kind of the thing the event is about.
   */
  type: "organizationLocation";
  id: LocationId;
}
/**
 * The location as it was when the event happened.
 */
export interface OrganizationLocationCreatedData {
  organizationLocationId: LocationId;
  clientId: ClientId;
  /**
   * Name of the location.
   */
  name: string;
  address: Address;
  /**
   * When the location was created. ISO 8601, UTC.
   */
  createdAt: string;
  links: OrganizationStructureLinks;
}
/**
 * A location of a client was removed. The data is what the location was at that moment. `links.self` leads to the organization structure, which no longer lists it. Each worker who was there has a `worker.updated`.
 */
export interface OrganizationLocationDeletedEvent {
  id: EventId;
  /**
   * Type of the event.
   */
  type: "organization_location.deleted";
  /**
   * Version of the envelope. Added members do not change it.
   */
  specVersion: 1;
  /**
   * Version of `data`. Added members do not change it.
   */
  dataVersion: 1;
  /**
   * When it happened. ISO 8601, UTC.
   */
  occurredAt: string;
  sequence: EventSequence;
  test?: TestMark;
  entity: OrganizationLocationEntity;
  data: OrganizationLocationDeletedData;
}
/**
 * The location as it was when it was removed.
 */
export interface OrganizationLocationDeletedData {
  organizationLocationId: LocationId;
  clientId: ClientId;
  /**
   * Name of the location.
   */
  name: string;
  address: Address;
  /**
   * When the location was created. ISO 8601, UTC.
   */
  createdAt: string;
  /**
   * When the location was removed. ISO 8601, UTC.
   */
  deletedAt: string;
  links: OrganizationStructureLinks;
}
/**
 * A worker was onboarded.
 */
export interface WorkerOnboardedEvent {
  id: EventId;
  /**
   * Type of the event.
   */
  type: "worker.onboarded";
  /**
   * Version of the envelope. Added members do not change it.
   */
  specVersion: 1;
  /**
   * Version of `data`. Added members do not change it.
   */
  dataVersion: 1;
  /**
   * When it happened. ISO 8601, UTC.
   */
  occurredAt: string;
  sequence: EventSequence;
  test?: TestMark;
  entity: WorkerEntity;
  data: WorkerEventData;
}
/**
 * The worker, the same as `data.workerId`.
 */
export interface WorkerEntity {
  /**
   * Kind of the thing the event is about.
   */
  type: "worker";
  id: WorkerId;
}
/**
 * The worker as it was when the event happened: version 2 of the record of the gateway, and where to read it.
 */
export interface WorkerEventData {
  workerId: WorkerId;
  clientId: ClientId;
  /**
   * Given name.
   */
  firstName: string;
  /**
   * Family name.
   */
  lastName: string;
  /**
   * Whole name, in the order in which the platform shows it.
   */
  fullName: string;
  email: EmailAddress;
  /**
   * Phone number as it was entered, or `null`.
   */
  phone: string | null;
  /**
   * Job titles registered for the worker. May be empty.
   */
  jobTitles: string[];
  location: Address;
  /**
   * All organization units to which the worker is assigned. May be empty.
   */
  organizationUnits: NamedUnit[];
  /**
   * The primary one of `organizationUnits`, or `null` when the worker is assigned to none.
   */
  organizationUnit: NamedUnit | null;
  /**
   * The organization location of the worker, or `null`.
   */
  organizationLocation: NamedLocation | null;
  /**
   * When the worker was offboarded, or `null`. A `worker.updated` with a time here tells of the offboarding. Absent in events from before this member.
   */
  offboardedAt?: string | null;
  /**
   * When the record of the worker was created. ISO 8601, UTC.
   */
  createdAt: string;
  links: WorkerLinks;
}
/**
 * A reference to an organization location, with its name.
 */
export interface NamedLocation {
  id: LocationId;
  /**
   * Name of the location.
   */
  name: string;
}
/**
 * Where to read the worker.
 */
export interface WorkerLinks {
  /**
   * Path to read with GET at the gateway, with your API key. Your own instance integration is already in it.
   */
  self: string;
}
/**
 * Something of a worker changed. Comes also once for each worker who loses the location because it was deleted, or whose unit, location or job title gets a new name, and when a worker is offboarded: then `offboardedAt` has the time. An offboarded worker has another event only if its location is deleted, or if the person is erased: then the names and the email are replaced, and phone and address are `null`. Erase them in your copy too.
 */
export interface WorkerUpdatedEvent {
  id: EventId;
  /**
   * Type of the event.
   */
  type: "worker.updated";
  /**
   * Version of the envelope. Added members do not change it.
   */
  specVersion: 1;
  /**
   * Version of `data`. Added members do not change it.
   */
  dataVersion: 1;
  /**
   * When it happened. ISO 8601, UTC.
   */
  occurredAt: string;
  sequence: EventSequence;
  test?: TestMark;
  entity: WorkerEntity;
  data: WorkerEventData;
}

/** Each event by its type. */
export interface EventsByType {
  'client.created': ClientCreatedEvent;
  'user.created': UserCreatedEvent;
  'user.updated': UserUpdatedEvent;
  'organization_unit.created': OrganizationUnitCreatedEvent;
  'organization_unit_type.created': OrganizationUnitTypeCreatedEvent;
  'organization_location.created': OrganizationLocationCreatedEvent;
  'organization_location.deleted': OrganizationLocationDeletedEvent;
  'worker.onboarded': WorkerOnboardedEvent;
  'worker.updated': WorkerUpdatedEvent;
}

export type EventType = keyof EventsByType;
export type WebhookEvent = EventsByType[EventType];
