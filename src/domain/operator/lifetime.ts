import type { Violations } from '../platform/violations.js';

export type KeyStatus = 'active' | 'expired' | 'revoked';

export interface Lifetime {
  expiresAt: number | null;
  revokedAt: number | null;
}

const DEFAULT_OVERLAP_SECONDS = 86_400;
const MAX_OVERLAP_SECONDS = 365 * 86_400;

/** A credential expires at its exact millisecond. */
export function statusOf({ expiresAt, revokedAt }: Lifetime, now: number): KeyStatus {
  if (revokedAt !== null) {
    return 'revoked';
  }
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}

export function validateExpiry(
  violations: Violations,
  expiresAt: number | null | undefined,
  now: number,
): void {
  // Written so that NaN is refused too.
  if (expiresAt !== undefined && expiresAt !== null && !(expiresAt > now)) {
    violations.add('expires_at', 'must be in the future');
  }
}

export function validateOverlap(violations: Violations, overlapSeconds: number | undefined): void {
  if (overlapSeconds !== undefined && overlapSeconds > MAX_OVERLAP_SECONDS) {
    violations.add('overlap_seconds', `must not be more than ${MAX_OVERLAP_SECONDS} (365 days)`);
  }
}

/** When a replaced credential ends: after the overlap, or at its own earlier expiry. */
export function endOfOverlap(
  expiresAt: number | null,
  now: number,
  overlapSeconds: number = DEFAULT_OVERLAP_SECONDS,
): number {
  return Math.min(expiresAt ?? Number.POSITIVE_INFINITY, now + overlapSeconds * 1_000);
}
