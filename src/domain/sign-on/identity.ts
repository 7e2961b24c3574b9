import type { AccountId, InstanceId } from '../../../generated/ids.js';
import type { Account } from '../platform/accounts.js';
import type { ContextChoice, LoginContext } from './login-contexts.js';

/** A person as one instance sees them. */
export interface Identity {
  account: Account;
  /** What lets them in, oldest first: ACTIVE and INVITED users, and workers who are not offboarded. */
  contexts: readonly ContextChoice[];
  lastContext: LoginContext | undefined;
}

export interface IdentityRows {
  find(accountId: AccountId, instanceId: InstanceId): Promise<Identity | undefined>;
}
