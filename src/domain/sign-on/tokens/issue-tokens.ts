import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import {
  actorOf,
  assertMayUse,
  authenticateClient,
  type PresentedClient,
  type ProvenClient,
} from './client-authentication.js';
import { type CodeExchange, exchangeCode } from './exchange-code.js';
import { type Refresh, rotateRefreshToken } from './refresh.js';
import type { TokenIssuer } from './token-issuer.js';
import type { IssuedTokens } from './tokens.js';

/** A token request by grant; undefined for an unsupported grant. */
export type TokenRequest =
  | ({ grantType: 'authorization_code' } & CodeExchange)
  | ({ grantType: 'refresh_token' } & Refresh)
  | undefined;

/** The token endpoint: authenticates the client and checks its grant type before the grant itself. */
export async function issueTokens(
  issuer: TokenIssuer,
  client: PresentedClient,
  request: TokenRequest,
): Promise<IssuedTokens> {
  const application = await authenticateClient(issuer, client);
  if (!request) {
    const message = 'The grant types are authorization_code and refresh_token.';
    throw new ServiceError(ErrorCode.UNSUPPORTED_GRANT_TYPE, message);
  }
  assertMayUse(application, request.grantType);
  const asker: ProvenClient = { application, actor: actorOf(client) };
  switch (request.grantType) {
    case 'authorization_code':
      return exchangeCode(issuer, asker, request);
    case 'refresh_token':
      return rotateRefreshToken(issuer, asker, request);
  }
}
