import type { SignOnServiceService } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import type {
  IssueTokensRequest,
  IssueTokensResponse,
} from '../../../../generated/proto/integration/sign_on/v1/tokens.js';
import { authenticateClient } from '../../../domain/sign-on/client-authentication.js';
import { exchangeCode } from '../../../domain/sign-on/exchange-code.js';
import { introspectToken } from '../../../domain/sign-on/introspect.js';
import { rotateRefreshToken } from '../../../domain/sign-on/refresh.js';
import { revokeToken } from '../../../domain/sign-on/revoke.js';
import type { TokenIssuer } from '../../../domain/sign-on/token-issuer.js';
import { readUserinfo } from '../../../domain/sign-on/userinfo.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { CallContext, Handlers } from '../../handlers.js';
import { fromClient, fromPresented, fromVerified, toActiveToken, toClaims } from './token-messages.js';

/** What applications ask for. */
export function tokenHandlers(issuer: TokenIssuer): Handlers<SignOnServiceService> {
  return {
    issueTokens: (request, context) => issueTokens(issuer, request, context),
    getUserinfo: async ({ accessToken }) => ({
      claims: toClaims(await readUserinfo(issuer, fromVerified(accessToken))),
    }),
    introspectToken: async ({ client, token }, context) => {
      const active = await introspectToken(issuer, fromClient(client, context), fromPresented(token));
      return active ? { active: true, token: toActiveToken(active) } : { active: false };
    },
    revokeToken: async ({ client, token }, context) => {
      await revokeToken(issuer, fromClient(client, context), fromPresented(token));
      return {};
    },
  };
}

async function issueTokens(
  issuer: TokenIssuer,
  { client: claimed, grant }: IssueTokensRequest,
  context: CallContext,
): Promise<IssueTokensResponse> {
  const client = fromClient(claimed, context);
  switch (grant?.$case) {
    case 'authorizationCode':
      return exchangeCode(issuer, client, grant.value);
    case 'refreshToken':
      return rotateRefreshToken(issuer, client, grant.value);
    default: {
      await authenticateClient(issuer, client);
      const message = 'The grant types are authorization_code and refresh_token.';
      throw new ServiceError(ErrorCode.UNSUPPORTED_GRANT_TYPE, message);
    }
  }
}
