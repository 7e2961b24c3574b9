import type { AccountId, ApplicationId, InstanceId } from '../../../generated/ids.js';

/** What a person gave an application on one instance: what its access tokens hang on, and the family of its refresh tokens. */
export interface Grant {
  /** 16 random bytes in base64url. */
  id: string;
  applicationId: ApplicationId;
  accountId: AccountId;
  instanceId: InstanceId;
  scopes: readonly string[];
  authenticatedAt: number;
  /** Of the session in which the person gave it; null where that is not known. */
  sessionId: string | null;
  /** Of the one refresh token that is good; it begins with 1. */
  generation: number;
  /** When that one was made. */
  rotatedAt: number;
  /** Null where the application may not refresh. */
  refreshExpiresAt: number | null;
  /** `refreshExpiresAt` moves with each rotation, but never beyond this. Null where the application may not refresh. */
  refreshEndsAt: number | null;
  /** When the last of its tokens is over. */
  expiresAt: number;
  revokedAt: number | null;
}

export interface GrantRows {
  find(id: string): Promise<Grant | undefined>;
  insert(grant: Grant): Promise<void>;
  /**
   * One conditional statement: `generation` becomes the next one where it is the present one of a grant of this application that is neither revoked nor past its
   * `refreshExpiresAt`. Of several at once, one hears yes.
   */
  rotate(
    of: { id: string; applicationId: ApplicationId; generation: number },
    to: { at: number; refreshExpiresAt: number; expiresAt: number },
  ): Promise<boolean>;
  /** Whether it was in force until now. */
  revoke(id: string, now: number): Promise<boolean>;
  /** With the codes that would make more of them: these first, so that none slips through. */
  revokeOfAccount(accountId: AccountId, now: number): Promise<void>;
  /** The same for one session of the person, and only for applications whose tokens end with a sign-out. */
  revokeOfSession(of: { sessionId: string; accountId: AccountId }, now: number): Promise<void>;
}
