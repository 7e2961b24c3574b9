import { script } from '../script.js';

/** A rotation shortens the life of a credential, and a later successor still gets the whole one. */
export const up = script(`
  alter table api_keys add column rotated_at bigint;
  alter table api_keys add column intended_expires_at bigint;
  alter table service_tokens add column rotated_at bigint;
  alter table service_tokens add column intended_expires_at bigint;
`);
