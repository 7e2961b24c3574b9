import type { GatewayHandler } from './gateway-handler.js';
import { one } from './read.js';

export const getClient: GatewayHandler<'getClient'> = (request, dependencies) =>
  one('getClient', request, dependencies);
