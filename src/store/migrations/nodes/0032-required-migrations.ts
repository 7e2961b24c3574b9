import { script } from '../script.js';

/** Which migrations a node must know to serve the database, and the last one that each running node knows. */
export const up = script(`
  create table required_migrations (name ID primary key);
  alter table encryption_key_holders add column newest_migration text;
`);
