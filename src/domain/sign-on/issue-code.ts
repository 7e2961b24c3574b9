import type { AccountId } from '../../../generated/ids.js';
import { newRowId, newSecret, storedHash } from '../../identifiers/random-secrets.js';
import type { Session } from '../credentials/sessions.js';
import { writeUsers } from '../platform/user-changes.js';
import { getUser } from '../platform/users.js';
import { actorIn, type Browser, userAgentOf } from './browser.js';
import { CODE_LIFETIME_MS } from './codes.js';
import type { Identity } from './identity.js';
import type { AuthorizationRequest } from './interactions.js';
import type { NextStep } from './next-step.js';
import type { SignOnChanges } from './unit-of-work.js';

/**
 * The person as the instance sees them, so that it stays true until the commit. Where a sign-in may make a user of theirs ACTIVE, the clients of such users are locked too.
 */
export async function lockedIdentity(
  changes: SignOnChanges,
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
 * Issues a code, which is a sign-in on the instance whether or not the person gave their password for it: an INVITED user becomes ACTIVE if it is the context, and the
 * context is remembered. The identity must have been locked.
 */
export async function issueCode(
  changes: SignOnChanges,
  browser: Browser,
  { request, session }: { request: AuthorizationRequest; session: Pick<Session, 'id'> },
  { accountId, authenticatedAt, context }: NextStep & { kind: 'issue' },
): Promise<string> {
  const { applicationId, instanceId, redirectUri, scopes, codeChallenge, nonce, requestedClaims } = request;
  if (context.invited) {
    const user = await getUser(changes, context.memberId);
    await writeUsers(changes, [{ ...user, status: 'ACTIVE' }]);
  }
  const { userType, clientId } = context;
  await changes.loginContexts.remember(accountId, instanceId, { userType, clientId }, changes.now);
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
    requestedClaims,
    context: { userType, clientId },
    authenticatedAt,
    sessionId: session.id,
    status: 'ISSUED',
    issuedAt: changes.now,
    expiresAt: changes.now + CODE_LIFETIME_MS,
  });
  await changes.audit(actorIn(browser, { type: 'account', id: accountId }), {
    type: 'code.issued',
    subject: { type: 'application', id: applicationId },
    attributes: {
      instance_id: instanceId,
      client_id: clientId,
      user_type: userType,
      scopes: scopes.join(' '),
      ...userAgentOf(browser),
    },
  });
  return code;
}
