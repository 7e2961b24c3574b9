import type { GatewayHandler } from './gateway-handler.js';
import { one } from './read.js';

export const getWorkerV2: GatewayHandler<'getWorkerV2'> = (request, dependencies) =>
  one('getWorkerV2', request, dependencies);
