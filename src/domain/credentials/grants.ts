import type { AccountId, ApplicationId, InstanceId } from '../../../generated/ids.js';

/** What a person has granted an application on one instance. Its tokens belong to the grant. */
export interface Grant {
  /** 16 random bytes in base64url. */
  id: string;
  applicationId: ApplicationId;
  accountId: AccountId;
  instanceId: InstanceId;
  scopes: readonly string[];
  authenticatedAt: number;
  /** The browser session of the authorization; null if unknown. */
  sessionId: string | null;
  /** The generation of the only valid refresh token, from 1. */
  generation: number;
  /** When the refresh token of this generation was made. */
  rotatedAt: number;
  /** Null where the application may not refresh. */
  refreshExpiresAt: number | null;
  /** Rotations extend `refreshExpiresAt` up to this time. Null where the application may not refresh. */
  refreshEndsAt: number | null;
  /** When the last token of the grant expires. */
  expiresAt: number;
  revokedAt: number | null;
}

export interface GrantRows {
  /** In the order of their ids; includes ended ones. */
  page(accountId: AccountId, afterId: string, limit: number): Promise<Grant[]>;
  find(id: string): Promise<Grant | undefined>;
  insert(grant: Grant): Promise<void>;
  /**
   * One conditional statement: advances `generation` if it is the present one of a valid grant of this
   * application. Of concurrent calls, one returns true.
   */
  rotate(
    of: Pick<Grant, 'id' | 'applicationId' | 'accountId' | 'generation'>,
    to: { at: number; refreshExpiresAt: number; expiresAt: number },
  ): Promise<boolean>;
  /** Returns whether the grant was valid before. */
  revoke(id: string, now: number): Promise<boolean>;
  /** Revokes unredeemed codes first, because their redemption would make further grants. */
  revokeOfAccount(accountId: AccountId, now: number): Promise<void>;
  /** The same for one application on one instance. Returns whether there was anything to revoke. */
  revokeOfApplication(
    of: Pick<Grant, 'accountId' | 'applicationId' | 'instanceId'>,
    now: number,
  ): Promise<boolean>;
  /** The same for one session, and only for applications whose tokens end with a sign-out. */
  revokeOfSession(of: { sessionId: string; accountId: AccountId }, now: number): Promise<void>;
}
