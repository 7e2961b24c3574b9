import type { AccountId } from '../../../generated/ids.js';

/** How often something was tried, counted by one statement before the try is made, so that many at once cannot pass a limit together. */
export interface AttemptRows {
  /** Counts one more, in a new window if the last one is over. */
  count(subject: string, now: number, windowMs: number): Promise<{ count: number; endsAt: number }>;
  /** Takes one back that turned out to be no guess, unless its window is over: the next one counts others. */
  giveBack(subject: string, endsAt: number): Promise<void>;
  forget(subject: string): Promise<void>;
  isKnownAddress(accountId: AccountId, addressHash: string, now: number): Promise<boolean>;
  rememberAddress(accountId: AccountId, addressHash: string, expiresAt: number): Promise<void>;
}
