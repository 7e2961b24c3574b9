import type { AccountId, ApplicationId, InstanceId } from '../../../../generated/ids.js';
import type { Clock } from '../../clock.js';
import type { LoginContext } from '../interaction/login-contexts.js';

export const CODE_LIFETIME_MS = 600_000;
export const MINUTE_MS = 60_000;

export type CodeStatus = 'ISSUED' | 'REDEEMED' | 'EXPIRED';

/** An authorization code; only the redirect has the code itself. */
export interface AuthorizationCode {
  /** SHA-256 of the code, in base64url. */
  hash: string;
  /** The grant that its redemption makes. */
  grantId: string;
  applicationId: ApplicationId;
  accountId: AccountId;
  instanceId: InstanceId;
  redirectUri: string;
  scopes: readonly string[];
  codeChallenge: string | null;
  nonce: string | null;
  /** The context of the sign-in; later choices in other tabs do not change it. */
  context: LoginContext;
  authenticatedAt: number;
  /** The session that issued it; null if unknown. */
  sessionId: string | null;
  status: CodeStatus;
  issuedAt: number;
  expiresAt: number;
}

export interface CodeRows {
  find(hash: string): Promise<AuthorizationCode | undefined>;
  /** Adds its minute to those that workflows watch. */
  insert(code: AuthorizationCode): Promise<void>;
  /** One conditional statement: of concurrent redemptions, one returns true. Expired codes return false. */
  redeem(hash: string, now: number): Promise<boolean>;
}

/** Codes by the minute of their issue, for the workflows that watch them. */
export interface CodeMinutes {
  /** Oldest first. */
  toWatch(limit: number): Promise<{ minute: number; expiresAt: number }[]>;
  markWatched(minutes: readonly number[], at: number): Promise<void>;
  /** Marks unredeemed codes as EXPIRED; `retryAt` is when the next one expires. */
  expire(
    minute: number,
    now: number,
  ): Promise<{ issued: number; redeemed: number; expired: number; retryAt: number | null }>;
}

/** Expires the due codes of a minute. Until the minute has passed, more may be issued. */
export async function expireCodesOf(
  codeMinutes: CodeMinutes,
  clock: Clock,
  minute: number,
): ReturnType<CodeMinutes['expire']> {
  const now = clock();
  const found = await codeMinutes.expire(minute, now);
  const endsAt = minute + MINUTE_MS;
  return now < endsAt ? { ...found, retryAt: endsAt + CODE_LIFETIME_MS } : found;
}
