import type { Identity } from './identity.js';
import type { ContextChoice } from './interaction/login-contexts.js';

/** A person who may sign in on an instance: the account is enabled, and at least one context admits them. */
export interface AdmittedPerson extends Identity {
  contexts: readonly [ContextChoice, ...ContextChoice[]];
}

export function admitted(identity: Identity | undefined): AdmittedPerson | undefined {
  const isAdmitted = identity && identity.account.disabledAt === null && identity.contexts.length > 0;
  return isAdmitted ? (identity as AdmittedPerson) : undefined;
}
