import type { AccountId } from '../../../generated/ids.js';
import type { components } from '../../../generated/openapi/sign-on.js';

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
