import { script } from '../script.js';

/** The only instance of a platform token; existing tokens reach all. */
export const up = script('alter table service_tokens add column instance_id ID');
