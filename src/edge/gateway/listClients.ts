import type { GatewayHandler } from './gateway-handler.js';
import { list } from './read.js';

export const listClients: GatewayHandler<'listClients'> = list('listClients');
