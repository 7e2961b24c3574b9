// Made by `make generate` from the contracts. Do not edit.

/** Public id of an instance: one deployment of the platform. */
export type InstanceId = `ins_${string}`;

/** Public id of an instance integration: the connection between an integration and one instance. */
export type InstanceIntegrationId = `iin_${string}`;

/** Public id of an integration: the external system that holds the API keys. */
export type IntegrationId = `itg_${string}`;

/** Public id of a client: a tenant of an instance. */
export type ClientId = `cli_${string}`;

/** Public id of a user: a person who can sign in to the dashboard on behalf of a client. */
export type UserId = `usr_${string}`;

/** Public id of a worker: an employee or contractor of a client who receives payroll. */
export type WorkerId = `wrk_${string}`;

/** Public id of a worker profile: what one person has in common over all their contracts. */
export type WorkerProfileId = `wpf_${string}`;

/** Public id of an organization unit type: a layer of the structure of a client, such as Department. */
export type UnitTypeId = `out_${string}`;

/** Public id of an organization unit, such as the department Engineering. */
export type UnitId = `oun_${string}`;

/** Public id of an organization location: a place where a client has workers. */
export type LocationId = `olo_${string}`;

/** Public id of an account: the person who signs in, who may be several users and workers. The `sub` of tokens. */
export type AccountId = `acc_${string}`;

/** Public id of an application registered for sign-on. Its `client_id`. */
export type ApplicationId = `app_${string}`;

/** Public id of an event. The same in every delivery of that event: dedupe on it. */
export type EventId = `evt_${string}`;

/** Public id of a webhook subscription. */
export type SubscriptionId = `whs_${string}`;

/** Public id of a webhook delivery: one event on its way to one subscription. */
export type DeliveryId = `whd_${string}`;

/** The prefix of each kind of public id. */
export const publicIdPrefixes = {
  InstanceId: 'ins',
  InstanceIntegrationId: 'iin',
  IntegrationId: 'itg',
  ClientId: 'cli',
  UserId: 'usr',
  WorkerId: 'wrk',
  WorkerProfileId: 'wpf',
  UnitTypeId: 'out',
  UnitId: 'oun',
  LocationId: 'olo',
  AccountId: 'acc',
  ApplicationId: 'app',
  EventId: 'evt',
  SubscriptionId: 'whs',
  DeliveryId: 'whd',
} as const;

export type PublicIdKind = keyof typeof publicIdPrefixes;

export interface PublicIds {
  InstanceId: InstanceId;
  InstanceIntegrationId: InstanceIntegrationId;
  IntegrationId: IntegrationId;
  ClientId: ClientId;
  UserId: UserId;
  WorkerId: WorkerId;
  WorkerProfileId: WorkerProfileId;
  UnitTypeId: UnitTypeId;
  UnitId: UnitId;
  LocationId: LocationId;
  AccountId: AccountId;
  ApplicationId: ApplicationId;
  EventId: EventId;
  SubscriptionId: SubscriptionId;
  DeliveryId: DeliveryId;
}
