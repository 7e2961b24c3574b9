import type { AccountId } from '../../../../generated/ids.js';
import { newRowId, newSecret, storedHash } from '../../../identifiers/random-secrets.js';
import type { Session } from '../../credentials/access.js';
import { getUser, writeUsers } from '../../platform/people/users.js';
import type { Identity } from '../identity.js';
import type { AuthorizationRequest } from '../interaction/interactions.js';
import type { NextStep } from '../interaction/next-step.js';
import { auditRequest, type Browser } from '../sessions/browser.js';
import type { SignOnChanges } from '../sign-on.js';
import { CODE_LIFETIME_MS } from './codes.js';

export type IssuePorts = Pick<
  SignOnChanges,
  'audit' | 'codes' | 'loginContexts' | 'now' | 'recordEvent' | 'touch' | 'users'
>;

/** The person as the instance sees them, locked, with the clients of users that a sign-in may activate. */
export async function lockedIdentity(
  changes: Pick<SignOnChanges, 'identities' | 'lock'>,
  accountId: AccountId,
  { instanceId }: Pick<AuthorizationRequest, 'instanceId'>,
): Promise<Identity | undefined> {
  await changes.lock(accountId);
  const identity = await changes.identities.find(accountId, instanceId);
  const inviting = (identity?.contexts ?? []).filter(({ invited }) => invited);
  if (inviting.length === 0) {
    return identity;
  }
  await changes.lock(...[...new Set(inviting.map(({ clientId }) => clientId))].sort());
  return changes.identities.find(accountId, instanceId);
}

/**
 * Issues a code, which counts as a sign-in: an INVITED user becomes ACTIVE if it is the chosen context, which
 * is remembered, and its client sees the present address. The identity must be locked.
 */
export async function issueCode(
  changes: IssuePorts,
  browser: Browser,
  { request, session }: { request: AuthorizationRequest; session: Pick<Session, 'id'> },
  { accountId, authenticatedAt, context, isReused }: NextStep & { kind: 'issue' },
): Promise<string> {
  const { applicationId, instanceId, redirectUri, scopes, codeChallenge, nonce } = request;
  if (context.invited) {
    const user = await getUser(changes, context.memberId);
    await writeUsers(changes, [user], { status: 'ACTIVE', knownEmail: null });
  }
  const { userType, clientId } = context;
  // A choice that the browser reuses is not a new one: the person may have chosen elsewhere since.
  if (!isReused) {
    await changes.loginContexts.remember(accountId, instanceId, { userType, clientId }, changes.now);
  }
  const code = newSecret();
  await changes.codes.insert({
    hash: storedHash(code),
    grantId: newRowId(),
    applicationId,
    accountId,
    instanceId,
    redirectUri,
    scopes,
    codeChallenge,
    nonce,
    context: { userType, clientId },
    authenticatedAt,
    sessionId: session.id,
    status: 'ISSUED',
    issuedAt: changes.now,
    expiresAt: changes.now + CODE_LIFETIME_MS,
  });
  const attributes = { client_id: clientId, user_type: userType, scopes: scopes.join(' ') };
  await auditRequest(changes, browser, { accountId, request }, { type: 'code.issued', attributes });
  return code;
}
