import type { GatewayHandler } from './gateway-handler.js';
import { one } from './read.js';

/** Of 80 MiB at most, which the domain reads whole. */
export const getOrganizationStructure: GatewayHandler<'getOrganizationStructure'> = one(
  'getOrganizationStructure',
  { isLong: true },
);
