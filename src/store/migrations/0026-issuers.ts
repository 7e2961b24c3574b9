import { script } from './script.js';

/** The environment has the issuer of its tokens, and each running domain node the one of its settings. */
export const up = script(`
  alter table environment add column issuer text;
  alter table encryption_key_holders add column issuer text;
`);
