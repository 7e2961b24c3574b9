import type { Identity } from './identity.js';
import type { ContextChoice } from './login-contexts.js';

/** A person who may be signed in on an instance: their account is enabled, and something there lets them in. */
export interface AdmittedPerson extends Identity {
  contexts: readonly [ContextChoice, ...ContextChoice[]];
}

export function admitted(identity: Identity | undefined): AdmittedPerson | undefined {
  const isAdmitted = identity && identity.account.disabledAt === null && identity.contexts.length > 0;
  return isAdmitted ? (identity as AdmittedPerson) : undefined;
}
