import { UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import type { SignOnServiceService } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import {
  type ClientAuthentication,
  ClientAuthenticationMethod,
  type IntrospectTokenRequest,
  type IssueTokensRequest,
  type VerifiedAccessToken as VerifiedAccessTokenMessage,
} from '../../../../generated/proto/integration/sign_on/v1/tokens.js';
import { providerMetadata } from '../../../domain/sign-on/keys/provider.js';
import type { TokenIssuer } from '../../../domain/sign-on/sign-on.js';
import type { IdentityClaims } from '../../../domain/sign-on/tokens/claims.js';
import type { PresentedClient } from '../../../domain/sign-on/tokens/client-authentication.js';
import { introspectToken } from '../../../domain/sign-on/tokens/introspect.js';
import { issueTokens, type TokenRequest } from '../../../domain/sign-on/tokens/issue-tokens.js';
import { revokeToken } from '../../../domain/sign-on/tokens/revoke.js';
import type { PresentedToken, VerifiedAccessToken } from '../../../domain/sign-on/tokens/standing.js';
import { readUserinfo } from '../../../domain/sign-on/tokens/userinfo.js';
import type { CallContext, Handlers } from '../../handlers.js';

/** The methods for applications: tokens, and what this server publishes about itself. */
export function tokenHandlers(issuer: TokenIssuer): Handlers<SignOnServiceService> {
  return {
    getProviderMetadata: async () => providerMetadata(issuer),
    getKeySet: async ({ wantedKid }) => {
      const { keys, maxAgeSeconds } = await issuer.keys.publicKeys(wantedKid);
      return {
        keys: keys.map(({ publicJwk, ...key }) => ({ ...key, jwkJson: JSON.stringify(publicJwk) })),
        maxAgeSeconds,
      };
    },
    issueTokens: ({ client, grant }, context) =>
      issueTokens(issuer, fromClient(client, context), fromGrant(grant)),
    getUserinfo: async ({ accessToken }) => ({
      claims: toClaims(await readUserinfo(issuer, fromVerified(accessToken))),
    }),
    introspectToken: async ({ client, token }, context) => {
      const active = await introspectToken(issuer, fromClient(client, context), fromPresented(token));
      return active ? { active: true, token: active } : { active: false };
    },
    revokeToken: async ({ client, token }, context) => {
      await revokeToken(issuer, fromClient(client, context), fromPresented(token));
      return {};
    },
  };
}

const METHODS: Partial<Record<ClientAuthenticationMethod, PresentedClient['method']>> = {
  [ClientAuthenticationMethod.NONE]: 'none',
  [ClientAuthenticationMethod.BODY]: 'secret',
  [ClientAuthenticationMethod.BASIC]: 'secret',
};

function fromClient(
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

function fromGrant(grant: IssueTokensRequest['grant']): TokenRequest {
  switch (grant?.$case) {
    case 'authorizationCode':
      return { grantType: 'authorization_code', ...grant.value };
    case 'refreshToken':
      return { grantType: 'refresh_token', ...grant.value };
    default:
      return undefined;
  }
}

function fromPresented(token: IntrospectTokenRequest['token']): PresentedToken {
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
function fromVerified(token: VerifiedAccessTokenMessage | undefined): VerifiedAccessToken {
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
function toClaims({ email_verified, given_name, family_name, lastLoginContext, ...claims }: IdentityClaims) {
  const { userType, clientId } = lastLoginContext;
  return {
    ...claims,
    emailVerified: email_verified,
    lastLoginContext: { userType: UserType[userType], clientId },
  };
}
