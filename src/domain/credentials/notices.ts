import type { AccountId } from '../../../generated/ids.js';
import type { PageRequest } from '../directory/page.js';

/** Something that a person is to be told by mail. It waits for the platform, which has the mailer. */
export interface AccountNotice {
  id: string;
  kind: 'email_changed';
  accountId: AccountId;
  /** Where it is mailed to: no longer the address of the account. */
  email: string;
  createdAt: number;
}

export interface NoticeRows {
  insert(notice: AccountNotice): Promise<void>;
  /** Oldest first. */
  page(page: PageRequest): Promise<AccountNotice[]>;
  /** Those that are not there were acknowledged before. */
  remove(ids: readonly string[]): Promise<void>;
}
