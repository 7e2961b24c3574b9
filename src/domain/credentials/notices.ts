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

export interface NoticeRows {
  insert(notice: AccountNotice): Promise<void>;
  /** Oldest first. */
  page(page: PageRequest): Promise<AccountNotice[]>;
  /** Ids that are missing were acknowledged before. */
  remove(ids: readonly string[]): Promise<void>;
}
