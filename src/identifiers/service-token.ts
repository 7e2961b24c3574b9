import { randomBase62 } from './base62.js';

/** The rights of tokens in the database. The tokens of edge and worker are settings. */
export const SERVICE_TOKEN_KINDS = ['operator', 'platform', 'support', 'auditor', 'key_custodian'] as const;

export type ServiceTokenKind = (typeof SERVICE_TOKEN_KINDS)[number];

const LENGTH = 48;

export function newServiceToken(kind: ServiceTokenKind, environment: 'live' | 'demo'): string {
  return `${kind}_${environment}_${randomBase62(LENGTH)}`;
}
