import { randomBase62 } from './base62.js';

const LENGTH = 48;

/** The secret of a confidential application. It carries the environment, so that a demo secret is known as one wherever it turns up. */
export function newClientSecret(environment: 'live' | 'demo'): string {
  return `cs_${environment}_${randomBase62(LENGTH)}`;
}
