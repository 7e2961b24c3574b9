import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { TokenIssuer } from '../sign-on.js';
import {
  actorOf,
  assertMayUse,
  authenticateClient,
  type PresentedClient,
  type ProvenClient,
} from './client-authentication.js';
import { type CodeExchange, exchangeCode, findCode } from './exchange-code.js';
import { type Refresh, rotateRefreshToken, shownToken } from './refresh.js';
import type { IssuedTokens } from './tokens.js';

/** A token request by grant; undefined for an unsupported grant. */
export type TokenRequest =
  | ({ grantType: 'authorization_code' } & CodeExchange)
  | ({ grantType: 'refresh_token' } & Refresh)
  | undefined;

/**
 * The token endpoint: authenticates the client, then checks its grant type, then the grant. One round trip
 * reads all rows that these checks need.
 */
export async function issueTokens(
  issuer: TokenIssuer,
  client: PresentedClient,
  request: TokenRequest,
): Promise<IssuedTokens> {
  const [application, known] = await Promise.all([
    authenticateClient(issuer, client),
    request && lookUp(issuer, request),
  ]);
  if (!request || !known) {
    const message = 'The grant types are authorization_code and refresh_token.';
    throw new ServiceError(ErrorCode.UNSUPPORTED_GRANT_TYPE, message);
  }
  assertMayUse(issuer, client, application, request.grantType);
  const asker: ProvenClient = { application, actor: actorOf(client) };
  return known(asker);
}

/** What answers the request when the client has proven itself. */
async function lookUp(
  issuer: TokenIssuer,
  request: NonNullable<TokenRequest>,
): Promise<(asker: ProvenClient) => Promise<IssuedTokens>> {
  if (request.grantType === 'authorization_code') {
    const found = await findCode(issuer, request);
    return (asker) => exchangeCode(issuer, asker, request, found);
  }
  const shown = await shownToken(issuer, request);
  return (asker) => rotateRefreshToken(issuer, asker, request, shown);
}
