import { SIGN_ON_URL } from '../server.js';
import { describePublished } from './published-suite.js';

const metadata = {
  issuer: SIGN_ON_URL,
  scopesSupported: ['openid', 'profile', 'email'],
  claimsSupported: ['iss', 'sub'],
  grantTypesSupported: ['authorization_code', 'refresh_token'],
  idTokenSigningAlgorithmsSupported: ['RS256', 'ES256', 'EdDSA'],
  promptValuesSupported: ['none', 'login', 'consent', 'select_account'],
  acrValuesSupported: ['urn:example:password'],
  maxAgeSeconds: 300,
};

// The statuses 200, 304, 405, 429, 500 and 503 have their tests in the suite.
describePublished({
  operationId: 'discovery',
  path: '/.well-known/openid-configuration',
  method: 'getProviderMetadata',
  present: { getProviderMetadata: async () => metadata },
  changed: { getProviderMetadata: async () => ({ ...metadata, scopesSupported: ['openid'] }) },
  body: {
    issuer: SIGN_ON_URL,
    authorization_endpoint: `${SIGN_ON_URL}/auth/authorize`,
    token_endpoint: `${SIGN_ON_URL}/auth/token`,
    userinfo_endpoint: `${SIGN_ON_URL}/auth/userinfo`,
    jwks_uri: `${SIGN_ON_URL}/.well-known/jwks.json`,
    revocation_endpoint: `${SIGN_ON_URL}/auth/revoke`,
    introspection_endpoint: `${SIGN_ON_URL}/auth/introspect`,
    end_session_endpoint: `${SIGN_ON_URL}/auth/logout`,
    scopes_supported: ['openid', 'profile', 'email'],
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'form_post'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256', 'EdDSA'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    acr_values_supported: ['urn:example:password'],
    claims_supported: ['iss', 'sub'],
    claim_types_supported: ['normal'],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    display_values_supported: ['page', 'popup', 'touch', 'wap'],
    ui_locales_supported: ['en'],
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    require_request_uri_registration: false,
  },
});
