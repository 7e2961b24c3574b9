import type { GatewayHandler } from './gateway-handler.js';
import { list } from './read.js';

export const listWorkersV2: GatewayHandler<'listWorkersV2'> = (request, dependencies) =>
  list('listWorkersV2', request, dependencies);
