import type { GatewayHandler } from './gateway-handler.js';
import { list } from './read.js';

export const listWorkers: GatewayHandler<'listWorkers'> = list('listWorkers');
