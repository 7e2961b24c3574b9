/* tslint:disable */
/* eslint-disable */
export * from './AuthorizationApi.js';
export * from './DiscoveryApi.js';
export * from './IdentityApi.js';
export * from './LogoutApi.js';
export * from './TokensApi.js';
