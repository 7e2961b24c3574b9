import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { Grant } from '../../credentials/access.js';
import type { Actor } from '../../operator/audit.js';
import type { Application } from '../../operator/rows/applications.js';
import { parseScopes } from '../authorization/request-parsers.js';
import type { Identity } from '../identity.js';
import type { KnownApplication, SignOnChanges, TokenIssuer } from '../sign-on.js';
import type { ProvenClient } from './client-authentication.js';
import { actionOn, observeForeign, scopesInForce, standingOf } from './standing.js';
import { grantEnds, type IssuedTokens, RETRY_WINDOW_MS, signAccessToken } from './tokens.js';

export interface Refresh {
  refreshToken: string;
  /** Narrows the granted scopes; undefined keeps all. */
  scope?: string;
}

/** A refresh token of a family with a valid HMAC. */
interface Shown {
  grant: Grant;
  generation: number;
  identity?: Identity;
}

/** The refresh token grant: a new access token, and the only successor of the refresh token. */
export async function rotateRefreshToken(
  issuer: TokenIssuer,
  asker: ProvenClient,
  { scope }: Refresh,
  shown: Shown | undefined,
): Promise<IssuedTokens> {
  const { application } = asker;
  // Before any write: a refresh that is refused for another reason consumes nothing and is no theft.
  const standing = await standingOf(issuer, shown?.grant, application, shown?.identity);
  if (!shown || !standing) {
    if (shown && shown.grant.applicationId !== application.id) {
      observeForeign(issuer, asker, 'refresh', shown.grant);
    }
    throw invalidGrant();
  }
  const scopes = narrowedScopes(shown.grant.scopes, application, scope);
  const { generation, issuedAt } = await rotate(issuer, asker, shown);
  const { grant } = standing;
  const access = await signAccessToken(issuer, { grant, application, scopes, issuedAt });
  return { ...access, refreshToken: issuer.refreshTokens.seal(grant.id, generation) };
}

export async function shownToken(
  { unitOfWork: { rows }, refreshTokens }: TokenIssuer,
  { refreshToken }: Pick<Refresh, 'refreshToken'>,
): Promise<Shown | undefined> {
  const opened = refreshTokens.open(refreshToken);
  if (!opened) {
    return undefined;
  }
  const { grantId, generation } = opened;
  const [grant, identity] = await Promise.all([rows.grants.find(grantId), rows.identities.ofGrant(grantId)]);
  return grant && { grant, generation, identity };
}

/**
 * One transaction: of concurrent uses of a token, one rotates it and the others get the same successor. With
 * a second transaction, a use could find the successor already used, and be judged as theft. Rotations have
 * no audit events, which would bury the others; the grant has the time of the last one.
 */
async function rotate(
  { unitOfWork, clock, observe }: TokenIssuer,
  { application, actor }: ProvenClient,
  { grant, generation }: Shown,
): Promise<{ generation: number; issuedAt: number }> {
  const outcome = await unitOfWork.run(async (changes) => {
    const now = clock();
    const isRotated = await changes.grants.rotate(
      { ...grant, applicationId: application.id, generation },
      { at: now, ...endsAfterRotation(application, grant, now) },
    );
    const isGood = isRotated || (await isRetry(changes, actor, { grant, generation }, now));
    return isGood ? { generation: generation + 1, issuedAt: now, isRotated } : undefined;
  });
  if (!outcome) {
    throw invalidGrant();
  }
  if (!outcome.isRotated) {
    observe({ actor, ...actionOn(grant, 'refresh_token.retried'), outcome: 'succeeded' });
  }
  return outcome;
}

/** Earlier access tokens may outlive those issued now. */
function endsAfterRotation(application: KnownApplication, grant: Grant, now: number) {
  const { refreshExpiresAt, expiresAt } = grantEnds(application, grant.refreshEndsAt, now);
  return {
    refreshExpiresAt: refreshExpiresAt as number,
    expiresAt: Math.max(grant.expiresAt, expiresAt),
  };
}

/** Reads again in this transaction: another use may have rotated it. Reuse ends the family at once. */
async function isRetry(
  changes: Pick<SignOnChanges, 'audit' | 'grants'>,
  actor: Actor,
  { grant: { id }, generation }: Shown,
  now: number,
): Promise<boolean> {
  const grant = await changes.grants.find(id);
  const judgement = grant ? judgeSpentToken(grant, generation, now) : 'over';
  if (grant && judgement === 'reuse' && (await changes.grants.revoke(id, now))) {
    await changes.audit(actor, { ...actionOn(grant, 'refresh_token.reused'), outcome: 'refused' });
  }
  return judgement === 'retry';
}

function invalidGrant(): ServiceError {
  const message = 'The refresh token is invalid, expired, already used or revoked.';
  return new ServiceError(ErrorCode.INVALID_GRANT, message);
}

/** `retry`: a lost answer, repeated. `reuse`: two parties hold the token. `over`: no sign of theft. */
export function judgeSpentToken(
  { generation, rotatedAt, refreshExpiresAt, revokedAt }: Grant,
  presented: number,
  now: number,
): 'retry' | 'reuse' | 'over' {
  const isOver = revokedAt !== null || refreshExpiresAt === null || refreshExpiresAt <= now;
  if (isOver || presented >= generation) {
    return 'over';
  }
  // A retry presents the token before the newest, whose successor is unused, within the window. Clocks of
  // nodes may differ slightly; after a clock was set far back, an earlier use is no retry.
  const isNextToLast = presented === generation - 1;
  return isNextToLast && Math.abs(now - rotatedAt) <= RETRY_WINDOW_MS ? 'retry' : 'reuse';
}

/** The scopes that a refresh asks for, if all are granted. An empty parameter counts as absent. */
function narrowedScopes(
  granted: readonly string[],
  application: Application,
  asked: string | undefined,
): string[] {
  const inForce = scopesInForce(granted, application);
  if (!asked) {
    return inForce.length > 0 ? inForce : refuse('The application may not use the granted scopes any more.');
  }
  const { known, unknown } =
    parseScopes(asked) ?? refuse('The scope is not a list separated by single spaces.');
  if (unknown.length > 0) {
    // The message does not repeat the input.
    refuse('The scope contains an unknown scope.');
  }
  const refused = known.find((scope) => !inForce.includes(scope));
  return refused === undefined ? known : refuse(`The scope ${refused} was not granted.`);
}

function refuse(message: string): never {
  throw new ServiceError(ErrorCode.INVALID_SCOPE, message);
}
