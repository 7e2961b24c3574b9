import type { AccountId, ApplicationId, InstanceId } from '../../../generated/ids.js';

/** A person's approval for an application on one instance: the basis of its tokens and their family. */
export interface Grant {
  /** 16 random bytes in base64url. */
  id: string;
  applicationId: ApplicationId;
  accountId: AccountId;
  instanceId: InstanceId;
  scopes: readonly string[];
  authenticatedAt: number;
  /** The session in which it was given; null if unknown. */
  sessionId: string | null;
  /** The generation of its only valid refresh token, from 1. */
  generation: number;
  /** When that token was made. */
  rotatedAt: number;
  /** Null where the application may not refresh. */
  refreshExpiresAt: number | null;
  /** The limit of `refreshExpiresAt`, which rotations move. Null where the application may not refresh. */
  refreshEndsAt: number | null;
  /** When the last of its tokens expires. */
  expiresAt: number;
  revokedAt: number | null;
}

export interface GrantRows {
  find(id: string): Promise<Grant | undefined>;
  insert(grant: Grant): Promise<void>;
  /**
   * One conditional statement: advances `generation` if it is the present one of a valid grant of this
   * application. Of concurrent calls, one returns true.
   */
  rotate(
    of: { id: string; applicationId: ApplicationId; generation: number },
    to: { at: number; refreshExpiresAt: number; expiresAt: number },
  ): Promise<boolean>;
  /** Whether it was valid until now. */
  revoke(id: string, now: number): Promise<boolean>;
  /** Revokes codes first, which would make further grants. */
  revokeOfAccount(accountId: AccountId, now: number): Promise<void>;
  /** The same for one session, and only for applications whose tokens end with a sign-out. */
  revokeOfSession(of: { sessionId: string; accountId: AccountId }, now: number): Promise<void>;
}
