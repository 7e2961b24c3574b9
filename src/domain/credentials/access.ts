import type { AccountId, ApplicationId, InstanceId } from '../../../generated/ids.js';
import type { components } from '../../../generated/openapi/sign-on.js';
import type { EmailChangeRows } from './email-changes.js';
import type { LinkRows } from './links.js';
import type { NoticeRows } from './notices.js';
import type { PasswordRows } from './passwords.js';

/** What a person is to a client: user or worker. */
export type LoginContext = components['schemas']['LoginContext'];

/** The person in a session. */
export interface SessionAccount {
  id: AccountId;
  authenticatedAt: number;
  /** The choices since the sign-in, by instance. Absent without one. */
  contexts?: Readonly<Record<string, LoginContext>>;
}

/** A browser, known by its cookie. Only sessions with an account have a row. */
export interface Session {
  id: string;
  /** How the browser was known before the sign-in, so that its other tabs continue; null if it was not. */
  beganAs: string | null;
  /** SHA-256 of the cookie's value, in base64url. */
  tokenHash: string;
  account: SessionAccount | null;
  lastSeenAt: number;
  /** The absolute limit; the idle one follows from `lastSeenAt`. */
  expiresAt: number;
}

export interface SessionRows {
  /** In the order of their ids; includes expired ones. */
  page(accountId: AccountId, afterId: string, limit: number): Promise<Session[]>;
  /** Includes expired ones. */
  findByToken(tokenHash: string): Promise<Session | undefined>;
  insert(session: Session): Promise<void>;
  /** One statement: ends all but the most recently seen sessions of the person, and tells their ids. */
  keepNewest(accountId: AccountId, count: number): Promise<string[]>;
  /** Writes everything but the id: a sign-in replaces the cookie's hash too. */
  update(session: Session): Promise<void>;
  /** Moves only `lastSeenAt` forward, so that a concurrent sign-in in another tab stays. */
  noteSeen(id: string, at: number): Promise<void>;
  /** Writes only the choices, unless a later sign-in has begun anew. */
  noteContexts(id: string, account: SessionAccount): Promise<void>;
  delete(id: string): Promise<void>;
  deleteOfAccount(accountId: AccountId): Promise<void>;
}

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

/** Per instance: an application sees different data on each. */
export interface ConsentKey {
  accountId: AccountId;
  applicationId: ApplicationId;
  instanceId: InstanceId;
}

export interface Consent extends ConsentKey {
  scopes: readonly string[];
  /** When the person last approved. */
  givenAt: number;
}

export interface ConsentRows {
  /** In the order of application and instance. */
  page(
    accountId: AccountId,
    after: Omit<ConsentKey, 'accountId'> | undefined,
    limit: number,
  ): Promise<Consent[]>;
  /** The approved scopes; empty if the person was never asked. */
  find(key: ConsentKey): Promise<readonly string[]>;
  /** Adds to the scopes approved before. */
  give(key: ConsentKey, scopes: readonly string[], at: number): Promise<void>;
  /** Returns whether the person had approved before. */
  withdraw(key: ConsentKey): Promise<boolean>;
}

/** Credentials of a person, and what they opened. */
export interface CredentialRows {
  readonly passwords: PasswordRows;
  readonly links: LinkRows;
  readonly emailChanges: EmailChangeRows;
  readonly notices: NoticeRows;
  readonly sessions: SessionRows;
  readonly grants: GrantRows;
  readonly consents: ConsentRows;
}

/** Ends all sessions, codes and tokens of the person. */
export async function endAccess(
  { sessions, grants, now }: Pick<CredentialRows, 'sessions' | 'grants'> & { now: number },
  accountId: AccountId,
): Promise<void> {
  await sessions.deleteOfAccount(accountId);
  await grants.revokeOfAccount(accountId, now);
}

/** Ends the consent, codes and tokens of one application on one instance. Returns whether there were any. */
export async function endAccessOf(
  { consents, grants, now }: Pick<CredentialRows, 'consents' | 'grants'> & { now: number },
  key: ConsentKey,
): Promise<boolean> {
  const hadConsent = await consents.withdraw(key);
  return (await grants.revokeOfApplication(key, now)) || hadConsent;
}
