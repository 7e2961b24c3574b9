import type { AccountId, ApplicationId, InstanceId } from '../../../generated/ids.js';
import type { LoginContext } from './login-contexts.js';

export const CODE_LIFETIME_MS = 600_000;

/** What the application asked to be told beyond what its scopes show. */
export interface RequestedClaims {
  /** Whether the ID token says when the person gave their password. */
  authTime: boolean;
}

export type CodeStatus = 'ISSUED' | 'REDEEMED' | 'EXPIRED';

/** An authorization code; the code itself is in the redirect only. */
export interface AuthorizationCode {
  /** SHA-256 of the code, in base64url. */
  hash: string;
  /** Of the grant that its redemption makes. */
  grantId: string;
  applicationId: ApplicationId;
  accountId: AccountId;
  instanceId: InstanceId;
  redirectUri: string;
  scopes: readonly string[];
  codeChallenge: string | null;
  nonce: string | null;
  requestedClaims: RequestedClaims;
  /** What the person signed in as, whatever they do in another tab before the code is redeemed. */
  context: LoginContext;
  authenticatedAt: number;
  /** Of the session in which it was issued; null where that is not known. */
  sessionId: string | null;
  status: CodeStatus;
  issuedAt: number;
  expiresAt: number;
}

export interface CodeRows {
  find(hash: string): Promise<AuthorizationCode | undefined>;
  /** Notes its minute too, so that a workflow gets to watch it. */
  insert(code: AuthorizationCode): Promise<void>;
  /** One conditional statement: of several redemptions at once, one hears yes. A code that is over says no. */
  redeem(hash: string, now: number): Promise<boolean>;
}

/** The codes of one minute, for the workflow that watches it. */
export interface CodeMinutes {
  /** Oldest first. */
  toWatch(limit: number): Promise<{ minute: number; expiresAt: number }[]>;
  markWatched(minutes: readonly number[], at: number): Promise<void>;
  /** Moves those that are over and unredeemed to EXPIRED; `retryAt` tells when the next one is over. */
  expire(
    minute: number,
    now: number,
  ): Promise<{ issued: number; redeemed: number; expired: number; retryAt: number | null }>;
}
