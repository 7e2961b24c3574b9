/* tslint:disable */
/* eslint-disable */
export * from './Address.js';
export * from './ApplicationInstance.js';
export * from './Change.js';
export * from './ChangedEntity.js';
export * from './ChangesDigest.js';
export * from './EntityDigest.js';
export * from './InstanceIntegration.js';
export * from './NamedLocation.js';
export * from './NamedUnit.js';
export * from './OrganizationLocation.js';
export * from './OrganizationStructure.js';
export * from './Problem.js';
export * from './ProblemCode.js';
export * from './ProblemField.js';
export * from './TenantClient.js';
export * from './Unit.js';
export * from './UnitType.js';
export * from './User.js';
export * from './UserManager.js';
export * from './UserRole.js';
export * from './UserStatus.js';
export * from './Worker.js';
export * from './WorkerV2.js';
