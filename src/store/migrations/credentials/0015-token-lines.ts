import { script } from '../script.js';

/** Successors of a token share its idempotency keys; existing tokens use their own. */
export const up = script('alter table service_tokens add column owner_id ID');
