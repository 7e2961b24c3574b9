import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { Grant } from '../credentials/grants.js';
import type { AuditOutcome } from '../operator/audit.js';
import type { KnownApplication } from './applications.js';
import { actorOf, assertMayUse, authenticateClient, type PresentedClient } from './client-authentication.js';
import { narrowedScopes } from './narrowed-scopes.js';
import { judgeSpentToken } from './spent-token.js';
import { standingOf } from './standing.js';
import type { TokenIssuer } from './token-issuer.js';
import { grantEnds } from './token-lifetimes.js';
import { type IssuedTokens, signAccessToken } from './tokens.js';
import type { SignOnChanges } from './unit-of-work.js';

export interface Refresh {
  refreshToken: string;
  /** To narrow what was granted; none asks for all of it. */
  scope?: string;
}

/** One refresh token of a family, proven to be one of ours. */
interface Shown {
  grant: Grant;
  generation: number;
}

/** The refresh token grant: a fresh access token, and the token's one successor. */
export async function rotateRefreshToken(
  issuer: TokenIssuer,
  client: PresentedClient,
  { refreshToken, scope }: Refresh,
): Promise<IssuedTokens> {
  const application = await authenticateClient(issuer, client);
  assertMayUse(application, 'refresh_token');
  const shown = await shownToken(issuer, refreshToken);
  // Before anything is written: a refresh that is refused for another reason uses nothing up and is no sign of theft.
  const standing = await standingOf(issuer, shown?.grant, application);
  if (!shown || !standing) {
    throw invalidGrant();
  }
  const scopes = narrowedScopes(shown.grant.scopes, application, scope);
  const { generation, issuedAt } = await rotate(issuer, client, application, shown);
  const { grant } = standing;
  const access = await signAccessToken(issuer, { grant, application, scopes, issuedAt });
  return { ...access, refreshToken: issuer.refreshTokens.seal(grant.id, generation) };
}

async function shownToken(
  { unitOfWork, refreshTokens }: TokenIssuer,
  token: string,
): Promise<Shown | undefined> {
  const opened = refreshTokens.open(token);
  const grant = opened && (await unitOfWork.rows.grants.find(opened.grantId));
  return grant && { grant, generation: opened.generation };
}

/**
 * One transaction; of several with one token at once, one rotates and the others hear of the same successor. The grant itself says when that was: an audit event for each
 * hour that somebody stays signed in would bury those that matter.
 */
async function rotate(
  { unitOfWork, clock, observe }: TokenIssuer,
  client: PresentedClient,
  application: KnownApplication,
  { grant, generation }: Shown,
): Promise<{ generation: number; issuedAt: number }> {
  const outcome = await unitOfWork.run(async (changes) => {
    const now = clock();
    const isRotated = await changes.grants.rotate(
      { id: grant.id, applicationId: application.id, generation },
      { at: now, ...endsAfterRotation(application, grant, now) },
    );
    const isGood = isRotated || (await isRetry(changes, client, { grant, generation }, now));
    return isGood ? { generation: generation + 1, issuedAt: now, isRotated } : undefined;
  });
  if (!outcome) {
    throw invalidGrant();
  }
  if (!outcome.isRotated) {
    observe(recordOf(client, grant, 'refresh_token.retried', 'succeeded'));
  }
  return outcome;
}

/** Access tokens given earlier may have longer lives than those given now. */
function endsAfterRotation(application: KnownApplication, grant: Grant, now: number) {
  const { refreshExpiresAt, expiresAt } = grantEnds(application, grant.refreshEndsAt, now);
  return {
    refreshExpiresAt: refreshExpiresAt as number,
    expiresAt: Math.max(grant.expiresAt, expiresAt),
  };
}

/** Read again in the same transaction: whoever rotated it may have done so since the first look. Reuse ends the family there and then. */
async function isRetry(
  changes: SignOnChanges,
  client: PresentedClient,
  { grant: { id }, generation }: Shown,
  now: number,
): Promise<boolean> {
  const grant = await changes.grants.find(id);
  const judgement = grant ? judgeSpentToken(grant, generation, now) : 'over';
  if (grant && judgement === 'reuse' && (await changes.grants.revoke(id, now))) {
    const { actor, ...action } = recordOf(client, grant, 'refresh_token.reused', 'refused');
    await changes.audit(actor, action);
  }
  return judgement === 'retry';
}

function recordOf(
  client: PresentedClient,
  { id, accountId, instanceId }: Grant,
  type: 'refresh_token.retried' | 'refresh_token.reused',
  outcome: AuditOutcome,
) {
  const subject = { type: 'account', id: accountId };
  return {
    type,
    outcome,
    actor: actorOf(client),
    subject,
    attributes: { grant_id: id, instance_id: instanceId },
  };
}

function invalidGrant(): ServiceError {
  const message = 'The refresh token is invalid, expired, already used or revoked.';
  return new ServiceError(ErrorCode.INVALID_GRANT, message);
}
