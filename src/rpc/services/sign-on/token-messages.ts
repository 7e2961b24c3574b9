import { UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import {
  type ActiveToken as ActiveTokenMessage,
  type ClientAuthentication,
  ClientAuthenticationMethod,
  type IdentityClaims as IdentityClaimsMessage,
  type IntrospectTokenRequest,
  type VerifiedAccessToken as VerifiedAccessTokenMessage,
} from '../../../../generated/proto/integration/sign_on/v1/tokens.js';
import type { IdentityClaims } from '../../../domain/sign-on/claims.js';
import type { PresentedClient } from '../../../domain/sign-on/client-authentication.js';
import type { ActiveToken } from '../../../domain/sign-on/introspect.js';
import type { PresentedToken } from '../../../domain/sign-on/presented-token.js';
import type { VerifiedAccessToken } from '../../../domain/sign-on/verified-access-token.js';
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

/** One that is not there expired long ago. */
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

export function toActiveToken({ issuedAt, expiresAt, ...token }: ActiveToken): ActiveTokenMessage {
  return { ...token, issuedAt: new Date(issuedAt), expiresAt: new Date(expiresAt) };
}

export function toClaims({
  email_verified,
  lastLoginContext,
  ...claims
}: IdentityClaims): IdentityClaimsMessage {
  const { userType, clientId } = lastLoginContext;
  return {
    ...claims,
    emailVerified: email_verified,
    lastLoginContext: { userType: UserType[userType], clientId },
  };
}
