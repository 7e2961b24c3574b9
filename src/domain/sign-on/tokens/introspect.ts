import type { AccountId, ApplicationId } from '../../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { TokenIssuer } from '../sign-on.js';
import { actorOf, assertMayUse, authenticateClient, type PresentedClient } from './client-authentication.js';
import {
  grantBehind,
  isStillValid,
  observeForeign,
  type PresentedToken,
  type Standing,
  scopesInForce,
  standingOf,
  type VerifiedAccessToken,
} from './standing.js';

interface ActiveToken {
  scope: string;
  clientId: ApplicationId;
  sub: AccountId;
  issuedAt: number;
  expiresAt: number;
  /** For access tokens only. */
  tokenId?: string;
}

/** Describes the application's own valid token; for any other the answer is only that it is inactive. */
export async function introspectToken(
  issuer: TokenIssuer,
  client: PresentedClient,
  presented: PresentedToken,
): Promise<ActiveToken | undefined> {
  const application = await authenticateClient(issuer, client);
  if (application.type === 'public') {
    const message = 'Only confidential applications may introspect tokens.';
    throw new ServiceError(ErrorCode.UNAUTHORIZED_CLIENT, message);
  }
  assertMayUse(issuer, client, application);
  const behind = await grantBehind(issuer, presented);
  if (!presented || !behind) {
    return undefined;
  }
  if (behind.grant.applicationId !== application.id) {
    observeForeign(issuer, { actor: actorOf(client) }, presented.kind, behind.grant);
  }
  const standing = await standingOf(issuer, behind.grant, application);
  if (!standing) {
    return undefined;
  }
  return presented.kind === 'access'
    ? activeAccessToken(issuer, standing, presented.token)
    : activeRefreshToken(issuer, standing, behind.generation);
}

async function activeAccessToken(
  issuer: TokenIssuer,
  { grant, application }: Standing,
  token: VerifiedAccessToken,
): Promise<ActiveToken | undefined> {
  const { tokenId, issuedAt, expiresAt } = token;
  const isOwn = token.clientId === application.id && token.accountId === grant.accountId;
  if (!isOwn || !(await isStillValid(issuer, token))) {
    return undefined;
  }
  const scope = scopesInForce(token.scopes, application).join(' ');
  // Userinfo and a refresh are refused then too.
  if (scope === '') {
    return undefined;
  }
  return { scope, clientId: application.id, sub: grant.accountId, issuedAt, expiresAt, tokenId };
}

/** Only the newest of a family is active, and only if a refresh with it would succeed. */
function activeRefreshToken(
  { clock }: TokenIssuer,
  { grant, application }: Standing,
  generation: number | undefined,
): ActiveToken | undefined {
  const { refreshExpiresAt } = grant;
  const isNewest = generation === grant.generation;
  const scopes = scopesInForce(grant.scopes, application);
  const mayRefresh = application.allowedGrantTypes.includes('refresh_token') && scopes.length > 0;
  if (!isNewest || !mayRefresh || refreshExpiresAt === null || refreshExpiresAt <= clock()) {
    return undefined;
  }
  return {
    scope: scopes.join(' '),
    clientId: application.id,
    sub: grant.accountId,
    issuedAt: grant.rotatedAt,
    expiresAt: refreshExpiresAt,
  };
}
