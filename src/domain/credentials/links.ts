import type { AccountId } from '../../../generated/ids.js';

export const LINK_PURPOSES = ['invitation', 'reset', 'verify_email'] as const;

export type LinkPurpose = (typeof LINK_PURPOSES)[number];

/** A mailed link; only the mail has the token. */
export interface AccountLink {
  tokenHash: string;
  accountId: AccountId;
  purpose: LinkPurpose;
  /** The address it was mailed to: the link is invalid once the account has another. */
  emailKey: string;
  createdAt: number;
  expiresAt: number;
  /** When it was used, or replaced by a newer one. */
  endedAt: number | null;
}

export interface LinkRows {
  find(tokenHash: string): Promise<AccountLink | undefined>;
  insert(link: AccountLink): Promise<void>;
  /** One conditional statement: of concurrent uses, one returns true. An expired link returns false. */
  use(tokenHash: string, now: number): Promise<boolean>;
  endOfAccount(accountId: AccountId, purposes: readonly LinkPurpose[], now: number): Promise<void>;
}
