import { script } from './script.js';

/** The active run of the purge, and indexes by which it finds expired rows without reading others. */
export const up = script(`
  create table maintenance_runs (job ID primary key, run text not null, ends_at bigint not null);
  create index api_keys_by_end on api_keys (expires_at);
  create index api_keys_by_revocation on api_keys (revoked_at);
  create index service_tokens_by_end on service_tokens (expires_at);
  create index service_tokens_by_revocation on service_tokens (revoked_at);
  create index signing_keys_by_retirement on signing_keys (retired_at);
`);
