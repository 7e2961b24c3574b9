import type { AccountId } from '../../../generated/ids.js';

export interface PasswordRows {
  find(accountId: AccountId): Promise<{ hash: string; setAt: number } | undefined>;
  set(accountId: AccountId, hash: string, at: number): Promise<void>;
}

/** Slow by design, and run in separate threads. Networks take turns; calls without one count as a network. */
export interface PasswordHasher {
  /** Throws UNAVAILABLE with a time to retry when the queue is too long. */
  hash(password: string, network?: string): Promise<string>;
  /** Without a hash it takes as long and returns false, so that unknown accounts look like known ones. */
  verify(hash: string | undefined, password: string, network?: string): Promise<boolean>;
}

export type PasswordFault = 'too_short' | 'too_long' | 'too_common' | 'too_personal';
