import type { AccountId, ClientId } from '../../../generated/ids.js';

/** The asker of changes that the platform itself requests. */
export const PLATFORM = 'platform';

/** The asker of a change. Each has one pending change per account, so that clients do not conflict. */
export type Asker = ClientId | typeof PLATFORM;

/** A requested address that awaits its proof. */
export interface EmailChange {
  accountId: AccountId;
  asker: Asker;
  email: string;
  askedAt: number;
  /** The hash of its only valid link; null until one is made. */
  linkHash: string | null;
  expiresAt: number;
}

export interface EmailChangeRows {
  /** Includes expired ones. */
  find(accountId: AccountId, asker: Asker): Promise<EmailChange | undefined>;
  findByLink(linkHash: string): Promise<EmailChange | undefined>;
  /** Oldest first. */
  ofAccount(accountId: AccountId): Promise<EmailChange[]>;
  /** Replaces the asker's earlier change, whose link becomes invalid. */
  put(change: EmailChange): Promise<void>;
  /** One conditional statement removes the change of a link: of concurrent uses, one returns true. */
  take(linkHash: string, now: number): Promise<boolean>;
  /** Removes the pending change of the asker, or those of all askers. Returns their number. */
  end(accountId: AccountId, asker?: Asker): Promise<number>;
}
