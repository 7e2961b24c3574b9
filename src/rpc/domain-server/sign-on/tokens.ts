import type { SignOnServiceService } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import { providerMetadata } from '../../../domain/sign-on/keys/provider.js';
import type { TokenIssuer } from '../../../domain/sign-on/sign-on.js';
import { introspectToken } from '../../../domain/sign-on/tokens/introspect.js';
import { issueTokens } from '../../../domain/sign-on/tokens/issue-tokens.js';
import { revokeToken } from '../../../domain/sign-on/tokens/revoke.js';
import { readUserinfo } from '../../../domain/sign-on/tokens/userinfo.js';
import type { Handlers } from '../../handlers.js';
import { fromClient, fromGrant, fromPresented, fromVerified, toClaims } from './token-messages.js';

/** The methods for applications: tokens, and what this server publishes about itself. */
export function tokenHandlers(issuer: TokenIssuer): Handlers<SignOnServiceService> {
  return {
    getProviderMetadata: async () => providerMetadata(issuer),
    getKeySet: async () => {
      const { keys, maxAgeSeconds } = await issuer.keys.publicKeys();
      return {
        keys: keys.map(({ jwk, ...key }) => ({ ...key, jwkJson: JSON.stringify(jwk) })),
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
