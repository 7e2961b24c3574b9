import type { GatewayHandler } from './gateway-handler.js';
import { one } from './read.js';

export const getOrganizationStructure: GatewayHandler<'getOrganizationStructure'> =
  one('getOrganizationStructure');
