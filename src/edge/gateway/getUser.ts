import type { GatewayHandler } from './gateway-handler.js';
import { one } from './read.js';

export const getUser: GatewayHandler<'getUser'> = one('getUser');
