import { GRANT_TYPES, SCOPES } from '../../operator/application-rules.js';
import { PROMPTS } from '../authorization/request-parsers.js';
import { CONTEXT_CLASS } from '../authorization/requested-claims.js';
import type { TokenIssuer } from '../sign-on.js';
import { CLAIMS } from '../tokens/claims.js';
import { TOKEN_ALGORITHMS } from './signing-keys.js';

/** Claims about the ID token, not the person. */
const TOKEN_CLAIMS = ['iss', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'at_hash'];

/** It changes with releases only. */
const MAX_AGE_SECONDS = 3_600;

/** What this server supports, apart from its endpoints. */
export function providerMetadata({ issuer }: TokenIssuer) {
  return {
    issuer,
    scopesSupported: SCOPES,
    claimsSupported: [...TOKEN_CLAIMS, ...CLAIMS],
    grantTypesSupported: GRANT_TYPES,
    idTokenSigningAlgorithmsSupported: TOKEN_ALGORITHMS,
    promptValuesSupported: ['none', ...PROMPTS],
    acrValuesSupported: [CONTEXT_CLASS],
    maxAgeSeconds: MAX_AGE_SECONDS,
  };
}
