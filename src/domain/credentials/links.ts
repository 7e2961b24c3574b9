import type { AccountId } from '../../../generated/ids.js';

export const LINK_PURPOSES = ['invitation', 'reset', 'verify_email'] as const;

export type LinkPurpose = (typeof LINK_PURPOSES)[number];

/** What was mailed to a person; the token itself is in the mail only. */
export interface AccountLink {
  tokenHash: string;
  accountId: AccountId;
  purpose: LinkPurpose;
  /** Where it was mailed to: it is good for nothing once the account has another address. */
  emailKey: string;
  createdAt: number;
  expiresAt: number;
  /** When it was used up, or replaced by a newer one. */
  endedAt: number | null;
}

export interface LinkRows {
  find(tokenHash: string): Promise<AccountLink | undefined>;
  insert(link: AccountLink): Promise<void>;
  /** One conditional statement: of several uses at once, one hears yes. A link that is over says no. */
  use(tokenHash: string, now: number): Promise<boolean>;
  endOfAccount(accountId: AccountId, purposes: readonly LinkPurpose[], now: number): Promise<void>;
}
