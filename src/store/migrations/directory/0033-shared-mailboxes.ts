import { script } from '../script.js';

/** Each start asks for accounts that share a mailbox. They are few, and the index has only them. */
export const up = script(`
  create index accounts_sharing_mailboxes on accounts (id, same_mailbox_as) where same_mailbox_as is not null;
`);
