import type { GatewayHandler } from './gateway-handler.js';
import { one } from './read.js';

export const getChangesDigest: GatewayHandler<'getChangesDigest'> = one('getChangesDigest');
