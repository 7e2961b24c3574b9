import { randomBase62 } from './base62.js';

/** Who a token of the database speaks for. The third caller, the service itself, has its token from the settings. */
export type ServiceTokenKind = 'operator' | 'platform';

const LENGTH = 48;

export function newServiceToken(kind: ServiceTokenKind, environment: 'live' | 'demo'): string {
  return `${kind}_${environment}_${randomBase62(LENGTH)}`;
}
