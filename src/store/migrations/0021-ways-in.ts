import { script } from './script.js';

/** Applications have an address where signing in begins. */
export const up = script('alter table applications add column initiate_login_uri text');
