import { script } from '../script.js';

/** Events name the request of their write. Earlier ones, and those of earlier nodes, name none. */
export const up = script('alter table events add column request_id text');
