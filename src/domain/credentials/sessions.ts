import type { AccountId } from '../../../generated/ids.js';

/** A browser, known by its cookie. Only sessions with an account have a row: strangers have none. */
export interface Session {
  id: string;
  /** What the browser was known by before it signed in, so that its other tabs go on; null where it was nothing. */
  beganAs: string | null;
  /** SHA-256 of the cookie's value, in base64url. */
  tokenHash: string;
  account: { id: AccountId; authenticatedAt: number } | null;
  lastSeenAt: number;
  /** The absolute limit; the idle one follows from `lastSeenAt`. */
  expiresAt: number;
}

export interface SessionRows {
  /** Whether or not it is past its limits: who asks decides. */
  findByToken(tokenHash: string): Promise<Session | undefined>;
  insert(session: Session): Promise<void>;
  /** One statement: of the sessions of the person, those seen last stay, so many of them. */
  keepNewest(accountId: AccountId, count: number): Promise<void>;
  /** Everything but the id: a sign-in replaces the hash of the cookie too. */
  update(session: Session): Promise<void>;
  /** Moves `lastSeenAt` forward and nothing else: a sign-in of another tab, which may come in between, stays. */
  noteSeen(id: string, at: number): Promise<void>;
  delete(id: string): Promise<void>;
  deleteOfAccount(accountId: AccountId): Promise<void>;
}
