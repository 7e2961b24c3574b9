import type { AccountId } from '../../../generated/ids.js';

export interface PasswordRows {
  find(accountId: AccountId): Promise<{ hash: string; setAt: number } | undefined>;
  set(accountId: AccountId, hash: string, at: number): Promise<void>;
}

/** Slow on purpose, and done where it holds up nothing else. */
export interface PasswordHasher {
  /** Throws UNAVAILABLE, with a time to come back, when more wait than can be served soon. */
  hash(password: string): Promise<string>;
  /** As `hash`. Without a hash it takes as long and says no: an unknown person cannot be told from a wrong password. */
  verify(hash: string | undefined, password: string): Promise<boolean>;
}

export type PasswordFault = 'too_short' | 'too_long' | 'too_common' | 'too_personal';
