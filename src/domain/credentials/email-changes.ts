import type { AccountId, ClientId } from '../../../generated/ids.js';

/** Stands where a client would if the platform itself asked. */
export const PLATFORM = 'platform';

/** Who asked for an address: each has one wish for an account, so that no client's wish replaces another's. */
export type Asker = ClientId | typeof PLATFORM;

/** An address that was asked for and waits for its proof. */
export interface EmailChange {
  accountId: AccountId;
  asker: Asker;
  email: string;
  askedAt: number;
  /** Of the one link that is good; null until one is made. */
  linkHash: string | null;
  expiresAt: number;
}

export interface EmailChangeRows {
  /** Whether or not it is over. */
  find(accountId: AccountId, asker: Asker): Promise<EmailChange | undefined>;
  findByLink(linkHash: string): Promise<EmailChange | undefined>;
  /** Oldest first. */
  ofAccount(accountId: AccountId): Promise<EmailChange[]>;
  /** In the place of what the asker wished for before, whose link ends with it. */
  put(change: EmailChange): Promise<void>;
  /** Removes what the link stands for, by one conditional statement: of several uses at once, one hears yes. What is over says no. */
  take(linkHash: string, now: number): Promise<boolean>;
  /** Forgets what the asker wished for; without one, what all of them did. */
  end(accountId: AccountId, asker?: Asker): Promise<void>;
}
