import type { GatewayHandler } from './gateway-handler.js';
import { list } from './read.js';

export const listUsers: GatewayHandler<'listUsers'> = list('listUsers');
