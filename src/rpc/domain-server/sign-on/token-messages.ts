import { UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import {
  type ClientAuthentication,
  ClientAuthenticationMethod,
  type IntrospectTokenRequest,
  type IssueTokensRequest,
  type VerifiedAccessToken as VerifiedAccessTokenMessage,
} from '../../../../generated/proto/integration/sign_on/v1/tokens.js';
import type { IdentityClaims } from '../../../domain/sign-on/tokens/claims.js';
import type { PresentedClient } from '../../../domain/sign-on/tokens/client-authentication.js';
import type { TokenRequest } from '../../../domain/sign-on/tokens/issue-tokens.js';
import type { PresentedToken, VerifiedAccessToken } from '../../../domain/sign-on/tokens/standing.js';
import type { CallContext } from '../../handlers.js';

const METHODS: Partial<Record<ClientAuthenticationMethod, PresentedClient['method']>> = {
  [ClientAuthenticationMethod.NONE]: 'none',
  [ClientAuthenticationMethod.BODY]: 'secret',
  [ClientAuthenticationMethod.BASIC]: 'secret',
};

export function fromClient(
  client: ClientAuthentication | undefined,
  { requestId }: Pick<CallContext, 'requestId'>,
): PresentedClient {
  return {
    method: client && METHODS[client.method],
    clientId: client?.clientId ?? '',
    secretHash: client?.clientSecretHash,
    remoteAddress: client?.remoteAddress ?? '',
    requestId,
  };
}

export function fromGrant(grant: IssueTokensRequest['grant']): TokenRequest {
  switch (grant?.$case) {
    case 'authorizationCode':
      return { grantType: 'authorization_code', ...grant.value };
    case 'refreshToken':
      return { grantType: 'refresh_token', ...grant.value };
    default:
      return undefined;
  }
}

export function fromPresented(token: IntrospectTokenRequest['token']): PresentedToken {
  switch (token?.$case) {
    case 'accessToken':
      return { kind: 'access', token: fromVerified(token.value) };
    case 'refreshToken':
      return { kind: 'refresh', token: token.value };
    default:
      return undefined;
  }
}

/** A missing expiry counts as expired. */
export function fromVerified(token: VerifiedAccessTokenMessage | undefined): VerifiedAccessToken {
  return {
    kid: token?.kid ?? '',
    tokenId: token?.tokenId ?? '',
    grantId: token?.grantId ?? '',
    clientId: token?.clientId ?? '',
    accountId: token?.accountId ?? '',
    scopes: token?.scope.split(' ') ?? [],
    issuedAt: token?.issuedAt?.getTime() ?? 0,
    expiresAt: token?.expiresAt?.getTime() ?? 0,
  };
}

/** Without `given_name` and `family_name`: the edge copies them from `firstName` and `lastName`. */
export function toClaims({
  email_verified,
  given_name,
  family_name,
  lastLoginContext,
  ...claims
}: IdentityClaims) {
  const { userType, clientId } = lastLoginContext;
  return {
    ...claims,
    emailVerified: email_verified,
    lastLoginContext: { userType: UserType[userType], clientId },
  };
}
