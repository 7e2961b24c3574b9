import type { GatewayHandler } from './gateway-handler.js';
import { one } from './read.js';

export const getWorkerV2: GatewayHandler<'getWorkerV2'> = one('getWorkerV2');
