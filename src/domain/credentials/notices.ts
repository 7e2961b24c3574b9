import type { AccountId } from '../../../generated/ids.js';
import type { PageRequest } from '../directory/page.js';

/** A notice to mail to a person. It waits for the platform, which sends mail. */
export interface AccountNotice {
  id: string;
  kind: 'email_changed';
  accountId: AccountId;
  /** The recipient: the previous address of the account. */
  email: string;
  createdAt: number;
}

/** A notice to mail to the contact of an integration. */
export interface IntegrationNotice {
  id: string;
  /** The subscription has failed for this share of the time after which it is disabled. */
  kind: 'failing_half' | 'failing_nine_tenths';
  integrationId: string;
  subscriptionId: string;
  email: string;
  failingSince: number;
  disabledFrom: number;
  createdAt: number;
}

export interface WaitingNotices<Notice> {
  /** Oldest first. */
  page(page: PageRequest): Promise<Notice[]>;
  /** Ignores ids without a notice: they were acknowledged before. Returns those that had one. */
  remove(ids: readonly string[]): Promise<string[]>;
}

export interface NoticeRows extends WaitingNotices<AccountNotice> {
  insert(notice: AccountNotice): Promise<void>;
}
