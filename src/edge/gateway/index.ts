import type { operations } from '../../../generated/openapi/gateway.js';
import type { Handlers } from '../contract/typed-handler.js';
import type { Identity } from './api-key.js';
import type { GatewayDependencies } from './dependencies.js';
import { listInstanceIntegrations } from './listInstanceIntegrations.js';

/** Every operation of the gateway that is implemented. */
export const gatewayHandlers: Handlers<operations, GatewayDependencies, Identity> = {
  listInstanceIntegrations,
};
