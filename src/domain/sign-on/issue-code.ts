import type { AccountId } from '../../../generated/ids.js';
import { newRowId, newSecret, storedHash } from '../../identifiers/random-secrets.js';
import { lockAccountWithUsers } from '../platform/account-updates.js';
import { writeUsers } from '../platform/user-changes.js';
import { actorIn, type Browser, userAgentOf } from './browser.js';
import { CODE_LIFETIME_MS } from './codes.js';
import type { Identity } from './identity.js';
import type { AuthorizationRequest } from './interactions.js';
import type { NextStep } from './next-step.js';
import type { SignOnChanges } from './unit-of-work.js';

/**
 * The person as the instance sees them, so that it stays true until the commit. Where a sign-in would make users of theirs ACTIVE, their clients are locked too.
 */
export async function lockedIdentity(
  changes: SignOnChanges,
  accountId: AccountId,
  { instanceId }: Pick<AuthorizationRequest, 'instanceId'>,
): Promise<Identity | undefined> {
  await changes.lock(accountId);
  const identity = await changes.identities.find(accountId, instanceId);
  if (!identity?.contexts.some(({ invited }) => invited)) {
    return identity;
  }
  await lockAccountWithUsers(changes, accountId);
  return changes.identities.find(accountId, instanceId);
}

/**
 * Issues a code, which is a sign-in on the instance whether or not the person gave their password for it: their INVITED users there become ACTIVE and are told of,
 * and the context is remembered. The identity must have been locked.
 */
export async function issueCode(
  changes: SignOnChanges,
  browser: Browser,
  { request, identity }: { request: AuthorizationRequest; identity: Identity },
  { accountId, authenticatedAt, context }: NextStep & { kind: 'issue' },
): Promise<string> {
  const { applicationId, instanceId, redirectUri, scopes, codeChallenge, nonce, requestedClaims } = request;
  if (identity.contexts.some(({ invited }) => invited)) {
    await activateInvited(changes, accountId, request);
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

async function activateInvited(
  changes: SignOnChanges,
  accountId: AccountId,
  { instanceId }: Pick<AuthorizationRequest, 'instanceId'>,
): Promise<void> {
  const users = await changes.users.ofAccount(accountId);
  const invited = users.filter((user) => user.status === 'INVITED' && user.instanceId === instanceId);
  await writeUsers(
    changes,
    invited.map((user) => ({ ...user, status: 'ACTIVE' as const })),
  );
}
