import type { GatewayHandler } from './gateway-handler.js';
import { one } from './read.js';

export const getClient: GatewayHandler<'getClient'> = one('getClient');
