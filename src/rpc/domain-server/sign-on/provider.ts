import type { SignOnServiceService } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import { providerMetadata } from '../../../domain/sign-on/keys/provider.js';
import type { TokenIssuer } from '../../../domain/sign-on/tokens/token-issuer.js';
import type { Handlers } from '../../handlers.js';

/** What this server publishes about itself. */
export function providerHandlers(issuer: TokenIssuer): Handlers<SignOnServiceService> {
  return {
    getProviderMetadata: async () => {
      const { scopes, claims, grantTypes, idTokenAlgorithms, prompts, contextClasses, ...rest } =
        providerMetadata(issuer);
      return {
        ...rest,
        scopesSupported: [...scopes],
        claimsSupported: [...claims],
        grantTypesSupported: [...grantTypes],
        idTokenSigningAlgorithmsSupported: [...idTokenAlgorithms],
        promptValuesSupported: [...prompts],
        acrValuesSupported: [...contextClasses],
      };
    },
    getKeySet: async () => {
      const { keys, maxAgeSeconds } = await issuer.keys.publicKeys();
      return {
        keys: keys.map(({ kid, algorithm, jwk }) => ({ kid, algorithm, jwkJson: JSON.stringify(jwk) })),
        maxAgeSeconds,
      };
    },
  };
}
