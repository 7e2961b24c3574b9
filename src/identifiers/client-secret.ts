import { randomBase62 } from './base62.js';

const LENGTH = 48;

/** The secret of a confidential application. Its prefix names the environment. */
export function newClientSecret(environment: 'live' | 'demo'): string {
  return `cs_${environment}_${randomBase62(LENGTH)}`;
}
