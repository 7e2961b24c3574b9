import { randomBase62 } from './base62.js';

/** The right that a token of the database carries. Edge and worker have theirs from the settings. */
export const serviceTokenKinds = ['operator', 'platform', 'support', 'auditor', 'key_custodian'] as const;

export type ServiceTokenKind = (typeof serviceTokenKinds)[number];

const LENGTH = 48;

export function newServiceToken(kind: ServiceTokenKind, environment: 'live' | 'demo'): string {
  return `${kind}_${environment}_${randomBase62(LENGTH)}`;
}
