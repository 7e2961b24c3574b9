import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { TokenIssuer } from '../sign-on.js';
import { type IdentityClaims, identityClaims } from './claims.js';
import { isStillValid, scopesInForce, standingOf, type VerifiedAccessToken } from './standing.js';

/** The claims of an access token's scopes about its person, at present. */
export async function readUserinfo(issuer: TokenIssuer, token: VerifiedAccessToken): Promise<IdentityClaims> {
  const { rows } = issuer.unitOfWork;
  const [counts, grant, application] = await Promise.all([
    isStillValid(issuer, token),
    rows.grants.find(token.grantId),
    rows.applications.find(token.clientId),
  ]);
  const isConsistent = counts && grant?.accountId === token.accountId;
  const standing = isConsistent && (await standingOf(issuer, grant, application));
  if (!standing) {
    throw new ServiceError(ErrorCode.INVALID_TOKEN, 'The access token is invalid or expired.');
  }
  const scopes = scopesInForce(token.scopes, standing.application);
  if (!scopes.includes('openid')) {
    throw new ServiceError(ErrorCode.INSUFFICIENT_SCOPE, 'The access token lacks the scope openid.');
  }
  return identityClaims(standing.person, standing.application.id, scopes);
}
