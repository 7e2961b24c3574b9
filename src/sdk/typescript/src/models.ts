import type { User as GeneratedUser } from './generated/gateway/models/User.js';
import type { UserStatus } from './generated/gateway/models/UserStatus.js';

export type { Address } from './generated/gateway/models/Address.js';
export type { ApplicationInstance } from './generated/gateway/models/ApplicationInstance.js';
export type { ChangesDigest } from './generated/gateway/models/ChangesDigest.js';
export type { EntityDigest } from './generated/gateway/models/EntityDigest.js';
export type { InstanceIntegration } from './generated/gateway/models/InstanceIntegration.js';
export type { NamedLocation } from './generated/gateway/models/NamedLocation.js';
export type { NamedUnit } from './generated/gateway/models/NamedUnit.js';
export type { OrganizationLocation } from './generated/gateway/models/OrganizationLocation.js';
export type { OrganizationStructure } from './generated/gateway/models/OrganizationStructure.js';
export { ProblemCode } from './generated/gateway/models/ProblemCode.js';
// Earlier releases have it as Client.
export type { TenantClient, TenantClient as Client } from './generated/gateway/models/TenantClient.js';
export type { Unit } from './generated/gateway/models/Unit.js';
export type { UnitType } from './generated/gateway/models/UnitType.js';
export type { UserManager } from './generated/gateway/models/UserManager.js';
export type { UserRole } from './generated/gateway/models/UserRole.js';
export { UserStatus } from './generated/gateway/models/UserStatus.js';
export type { Worker } from './generated/gateway/models/Worker.js';
export type { WorkerV2 } from './generated/gateway/models/WorkerV2.js';

/** A person who can sign in to the dashboard on behalf of a client. */
export interface User extends Omit<GeneratedUser, 'status'> {
  /** The status. Later releases may add values to those of `UserStatus`. */
  status: Open<UserStatus>;
}

/** One of the known values; later releases of the service may add others. */
export type Open<Known extends string> = Known | (string & Record<never, never>);
