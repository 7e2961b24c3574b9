import { script } from './script.js';

/** Applications have a logo, a privacy policy and terms of service. */
export const up = script(`
  alter table applications add column logo_uri text;
  alter table applications add column policy_uri text;
  alter table applications add column tos_uri text;
`);
