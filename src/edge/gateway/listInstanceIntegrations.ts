import type { GatewayHandler } from './gateway-handler.js';
import { one } from './read.js';

export const listInstanceIntegrations: GatewayHandler<'listInstanceIntegrations'> =
  one('listInstanceIntegrations');
