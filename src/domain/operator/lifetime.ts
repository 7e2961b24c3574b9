import { refused } from '../../errors/service-error.js';
import { LATEST_MS } from '../clock.js';
import { Violations } from '../platform/violations.js';

export type KeyStatus = 'active' | 'expired' | 'revoked';

interface Lifetime {
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
  if (expiresAt !== undefined && expiresAt !== null && !(expiresAt > now && expiresAt <= LATEST_MS)) {
    violations.add('expires_at', 'must be in the future, and not after the year 9999');
  }
}

/** Checks how long the present credential lasts after a rotation, and when its successor expires. */
export function validateRotation(
  { overlapSeconds, expiresAt }: { overlapSeconds?: number; expiresAt?: number },
  now: number,
): void {
  const violations = new Violations();
  validateExpiry(violations, expiresAt, now);
  if (overlapSeconds !== undefined && overlapSeconds > MAX_OVERLAP_SECONDS) {
    violations.add('overlap_seconds', `must not be more than ${MAX_OVERLAP_SECONDS} (365 days)`);
  }
  violations.throwIfAny();
}

/** When a replaced credential ends: after the overlap, or at its own earlier expiry. */
function endOfOverlap(
  expiresAt: number | null,
  now: number,
  overlapSeconds: number = DEFAULT_OVERLAP_SECONDS,
): number {
  return Math.min(expiresAt ?? Number.POSITIVE_INFINITY, now + overlapSeconds * 1_000);
}

/** What a credential keeps of its rotation, so that later successors still get the lifetime of the first. */
export interface Rotation {
  /** The last one; null while it has no successor. */
  rotatedAt: number | null;
  /** When a rotated credential would end without the overlap; null if it would not. */
  intendedExpiresAt: number | null;
}

export const NOT_ROTATED: Rotation = { rotatedAt: null, intendedExpiresAt: null };

type Rotatable = Rotation & Pick<Lifetime, 'expiresAt'>;

/** What its rotation changes in a credential. */
export function rotated(present: Rotatable, now: number, overlapSeconds: number | undefined): Rotatable {
  return {
    expiresAt: endOfOverlap(present.expiresAt, now, overlapSeconds),
    rotatedAt: now,
    intendedExpiresAt: intendedEnd(present),
  };
}

/** When a credential would end if it had not been rotated. */
export function intendedEnd({ expiresAt, rotatedAt, intendedExpiresAt }: Rotatable): number | null {
  return rotatedAt === null ? expiresAt : intendedExpiresAt;
}

/** A key or token that operators issue, without the secret itself. */
export interface Credential extends Lifetime, Rotation, Used {
  label: string;
  createdAt: number;
}

/** The state of a new credential. */
export const UNUSED = { ...NOT_ROTATED, revokedAt: null, lastUsedAt: null };

export interface SecretRows {
  setSecretExpiry(secretId: string, expiresAt: number): Promise<void>;
  deleteSecret(secretId: string): Promise<void>;
  /** Deletes a secret that has ended, unless the purge has removed it already. */
  forgetSecret(secretId: string): Promise<void>;
}

/** Ends secrets after the overlap, removes those that have ended, and returns those that work until then. */
export async function letEnd<Secret extends { id: string; expiresAt: number | null }>(
  rows: SecretRows,
  secrets: readonly Secret[],
  [now, overlapSeconds]: [now: number, overlapSeconds: number | undefined],
  refusalOfMany: { most: number; message: string },
): Promise<Secret[]> {
  const ends = secrets.map((secret) => ({
    ...secret,
    expiresAt: endOfOverlap(secret.expiresAt, now, overlapSeconds),
  }));
  const ending = ends.filter(({ expiresAt }) => expiresAt > now);
  if (ending.length >= refusalOfMany.most) {
    throw refused(refusalOfMany.message);
  }
  for (const { id, expiresAt } of secrets) {
    const end = endOfOverlap(expiresAt, now, overlapSeconds);
    if (end > now) {
      await rows.setSecretExpiry(id, end);
    } else {
      await (end === expiresAt ? rows.forgetSecret(id) : rows.deleteSecret(id));
    }
  }
  return ending;
}

/** A key, token or secret with its last known use. */
interface Used {
  id: string;
  lastUsedAt: number | null;
}

/** One conditional statement: moves the last use forward to `at` unless it is at `unlessSince` or later. */
export type MarkUsed = (id: string, at: number, unlessSince: number) => Promise<void>;

/** Notes the last use in coarse steps, which spare most writes. Calls do not wait for it. */
export async function noteUse(
  { id, lastUsedAt }: Used,
  now: number,
  stepMs: number,
  markUsed: MarkUsed,
): Promise<void> {
  const unlessSince = now - stepMs;
  if (lastUsedAt === null || lastUsedAt < unlessSince) {
    await markUsed(id, now, unlessSince);
  }
}
