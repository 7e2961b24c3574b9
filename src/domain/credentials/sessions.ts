import type { AccountId } from '../../../generated/ids.js';

/** A browser, known by its cookie; nobody is signed in until there is an account. */
export interface Session {
  id: string;
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
  /** Everything but the id: a sign-in replaces the hash of the cookie too. */
  update(session: Session): Promise<void>;
  /** Moves `lastSeenAt` forward and nothing else: a sign-in of another tab, which may come in between, stays. */
  noteSeen(id: string, at: number): Promise<void>;
  delete(id: string): Promise<void>;
  deleteOfAccount(accountId: AccountId): Promise<void>;
}
