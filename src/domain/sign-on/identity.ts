import type { AccountId, InstanceId } from '../../../generated/ids.js';
import type { Account } from '../platform/rows/people.js';
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
  /** The person of a grant on its instance, without a lookup of the grant before. */
  ofGrant(grantId: string): Promise<Identity | undefined>;
  /** The same of an authorization code, by its hash. */
  ofCode(hash: string): Promise<Identity | undefined>;
}

/** A person who may sign in on an instance: the account is enabled, and at least one context admits them. */
export interface AdmittedPerson extends Identity {
  contexts: readonly [ContextChoice, ...ContextChoice[]];
}

export function admitted(identity: Identity | undefined): AdmittedPerson | undefined {
  const isAdmitted = identity && identity.account.disabledAt === null && identity.contexts.length > 0;
  return isAdmitted ? (identity as AdmittedPerson) : undefined;
}
