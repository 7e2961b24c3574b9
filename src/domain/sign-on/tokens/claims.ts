import type { ApplicationId, UserId, WorkerId } from '../../../../generated/ids.js';
import type { components } from '../../../../generated/openapi/sign-on.js';
import type { AdmittedPerson } from '../identity.js';
import { type ContextChoice, findContext, type LoginContext } from '../interaction/login-contexts.js';

/** The claims about a person, by their names in tokens. Unknown names are absent. */
export type IdentityClaims = components['schemas']['UserinfoClaims'];

export const CLAIMS: readonly (keyof IdentityClaims)[] = [
  'sub',
  'aud',
  'name',
  'firstName',
  'lastName',
  'given_name',
  'family_name',
  'email',
  'email_verified',
  'workerProfileId',
  'userIds',
  'workerIds',
  'lastLoginContext',
];

/**
 * All claims of the granted scopes. Names are those of the chosen user or worker, as in the gateway; names of
 * the account may come from another tenant.
 */
export function identityClaims(
  { account, contexts, lastContext }: AdmittedPerson,
  aud: ApplicationId,
  scopes: readonly string[],
): IdentityClaims {
  // The remembered context while it admits the person, else the oldest in which the person has signed in.
  const context =
    findContext(contexts, lastContext) ?? contexts.find(({ invited }) => !invited) ?? contexts[0];
  const { firstName, lastName, fullName: name } = context;
  const hasProfile = scopes.includes('profile');
  return {
    sub: account.id,
    aud,
    ...(hasProfile && name !== null && { name }),
    ...(hasProfile && firstName !== null && { firstName, given_name: firstName }),
    ...(hasProfile && lastName !== null && { lastName, family_name: lastName }),
    ...(scopes.includes('email') && {
      email: account.email,
      email_verified: account.emailVerifiedAt !== null,
    }),
    workerProfileId: account.workerProfileId,
    userIds: membershipsOf<UserId>(contexts, 'USER'),
    workerIds: membershipsOf<WorkerId>(contexts, 'WORKER'),
    lastLoginContext: { userType: context.userType, clientId: context.clientId },
  };
}

function membershipsOf<Id extends string>(
  contexts: readonly ContextChoice[],
  type: LoginContext['userType'],
) {
  return contexts
    .filter(({ userType }) => userType === type)
    .map(({ memberId, clientId }) => ({ id: memberId as Id, clientId }));
}
