import { GRANT_TYPES, SCOPES } from '../../operator/application-rules.js';
import type { TokenAlgorithm } from '../../operator/rows/applications.js';
import { CONTEXT_CLASS } from '../authorization/context-classes.js';
import { CLAIMS } from '../tokens/claims.js';
import type { TokenIssuer } from '../tokens/token-issuer.js';
import { TOKEN_ALGORITHMS } from './signing-keys.js';

/** What this server supports, apart from its endpoints. */
export interface ProviderMetadata {
  issuer: string;
  scopes: readonly string[];
  claims: readonly string[];
  grantTypes: readonly string[];
  idTokenAlgorithms: readonly TokenAlgorithm[];
  prompts: readonly string[];
  contextClasses: readonly string[];
  maxAgeSeconds: number;
}

const PROMPTS = ['none', 'login', 'consent', 'select_account'];
/** Claims about the ID token, not the person. */
const TOKEN_CLAIMS = ['iss', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'at_hash'];

/** It changes with releases only. */
const MAX_AGE_SECONDS = 3_600;

export function providerMetadata({ issuer }: TokenIssuer): ProviderMetadata {
  return {
    issuer,
    scopes: SCOPES,
    claims: [...TOKEN_CLAIMS, ...CLAIMS],
    grantTypes: GRANT_TYPES,
    idTokenAlgorithms: TOKEN_ALGORITHMS,
    prompts: PROMPTS,
    contextClasses: [CONTEXT_CLASS],
    maxAgeSeconds: MAX_AGE_SECONDS,
  };
}
