import type { AccountId, InstanceId } from '../../../generated/ids.js';
import type { Account } from '../platform/rows/accounts.js';
import type { ContextChoice, LoginContext } from './interaction/login-contexts.js';

/** A person as one instance sees them. */
export interface Identity {
  account: Account;
  /** Contexts that admit the person, oldest first: ACTIVE and INVITED users, workers not offboarded. */
  contexts: readonly ContextChoice[];
  lastContext: LoginContext | undefined;
}

export interface IdentityRows {
  find(accountId: AccountId, instanceId: InstanceId): Promise<Identity | undefined>;
}
