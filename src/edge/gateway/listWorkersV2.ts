import type { GatewayHandler } from './gateway-handler.js';
import { list } from './read.js';

export const listWorkersV2: GatewayHandler<'listWorkersV2'> = list('listWorkersV2');
