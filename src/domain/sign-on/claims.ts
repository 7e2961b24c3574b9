import type { AccountId, ApplicationId, ClientId, WorkerProfileId } from '../../../generated/ids.js';
import type { AdmittedPerson } from './admission.js';
import type { ContextChoice, LoginContext } from './login-contexts.js';
import { findContext } from './offered-contexts.js';

export interface Membership {
  id: string;
  clientId: ClientId;
}

/** What an application is told of a person, in the names that tokens use. A name that is not known is absent. */
export interface IdentityClaims {
  sub: AccountId;
  aud: ApplicationId;
  name?: string;
  firstName?: string;
  lastName?: string;
  email?: string;
  email_verified?: boolean;
  workerProfileId: WorkerProfileId;
  userIds: Membership[];
  workerIds: Membership[];
  lastLoginContext: LoginContext;
}

export const CLAIMS: readonly (keyof IdentityClaims)[] = [
  'sub',
  'aud',
  'name',
  'firstName',
  'lastName',
  'email',
  'email_verified',
  'workerProfileId',
  'userIds',
  'workerIds',
  'lastLoginContext',
];

/**
 * Each scope shows all of its claims: what an application asked for by name within them is among these anyway. The names are those of the user or worker that the person
 * is signed in as, as the gateway shows them; the account's own may be another tenant's words.
 */
export function identityClaims(
  { account, contexts, lastContext }: AdmittedPerson,
  aud: ApplicationId,
  scopes: readonly string[],
): IdentityClaims {
  const context = contextInForce(contexts, lastContext);
  const { firstName, lastName, fullName: name } = context;
  const hasProfile = scopes.includes('profile');
  return {
    sub: account.id,
    aud,
    ...(hasProfile && name !== null && { name }),
    ...(hasProfile && firstName !== null && { firstName }),
    ...(hasProfile && lastName !== null && { lastName }),
    ...(scopes.includes('email') && {
      email: account.email,
      email_verified: account.emailVerifiedAt !== null,
    }),
    workerProfileId: account.workerProfileId,
    userIds: membershipsOf(contexts, 'USER'),
    workerIds: membershipsOf(contexts, 'WORKER'),
    lastLoginContext: { userType: context.userType, clientId: context.clientId },
  };
}

function membershipsOf(contexts: readonly ContextChoice[], type: LoginContext['userType']): Membership[] {
  return contexts
    .filter(({ userType }) => userType === type)
    .map(({ memberId, clientId }) => ({ id: memberId, clientId }));
}

/** The one remembered, as long as it lets the person in; else the oldest that does. */
function contextInForce(
  contexts: AdmittedPerson['contexts'],
  remembered: LoginContext | undefined,
): ContextChoice {
  return findContext(contexts, remembered) ?? contexts[0];
}
