import type { GatewayHandler } from './gateway-handler.js';
import { one } from './read.js';

export const listJobTitles: GatewayHandler<'listJobTitles'> = one('listJobTitles');
