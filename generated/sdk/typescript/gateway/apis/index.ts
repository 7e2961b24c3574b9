/* tslint:disable */
/* eslint-disable */
export * from './ChangesApi.js';
export * from './ClientsApi.js';
export * from './InstanceIntegrationsApi.js';
export * from './JobTitlesApi.js';
export * from './OrganizationStructureApi.js';
export * from './UsersApi.js';
export * from './WorkersApi.js';
