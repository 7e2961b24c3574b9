import { createHash } from 'node:crypto';
import type { components } from '../../../../generated/openapi/sign-on.js';
import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import type { ReceivedRequest } from '../../contract/typed-handler.js';
import { isHeld } from '../../http/representations.js';
import type { OAuthHandler } from '../sign-on-handler.js';

const CLIENT_AUTHENTICATION = ['client_secret_basic', 'client_secret_post'];

export const discovery: OAuthHandler<'discovery'> = async (request, { signOn, signOnUrl }) => {
  const metadata = await signOn.getProviderMetadata({}, { requestId: request.requestId });
  const addressOf = (operation: keyof typeof operations) => signOnUrl + operations[operation].path;
  const document = {
    issuer: metadata.issuer,
    authorization_endpoint: addressOf('authorize'),
    token_endpoint: addressOf('token'),
    userinfo_endpoint: addressOf('userinfo'),
    jwks_uri: addressOf('jwks'),
    revocation_endpoint: addressOf('revoke'),
    introspection_endpoint: addressOf('introspect'),
    end_session_endpoint: addressOf('logout'),
    scopes_supported: metadata.scopesSupported,
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'form_post'],
    grant_types_supported: metadata.grantTypesSupported,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: metadata.idTokenSigningAlgorithmsSupported,
    token_endpoint_auth_methods_supported: [...CLIENT_AUTHENTICATION, 'none'],
    revocation_endpoint_auth_methods_supported: [...CLIENT_AUTHENTICATION, 'none'],
    introspection_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    code_challenge_methods_supported: ['S256'],
    acr_values_supported: metadata.acrValuesSupported,
    claims_supported: metadata.claimsSupported,
    claim_types_supported: ['normal'],
    prompt_values_supported: metadata.promptValuesSupported,
    display_values_supported: ['page', 'popup', 'touch', 'wap'],
    ui_locales_supported: ['en'],
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    require_request_uri_registration: false,
  };
  return published(request, document, metadata.maxAgeSeconds);
};

export const jwks: OAuthHandler<'jwks'> = async (request, { signOn }) => {
  const { keys, maxAgeSeconds } = await signOn.getKeySet({}, { requestId: request.requestId });
  const set = { keys: keys.map(({ jwkJson }) => JSON.parse(jwkJson) as components['schemas']['Jwk']) };
  return published(request, set, maxAgeSeconds);
};

/** An answer that may be cached, with an entity tag. */
function published<T>(request: ReceivedRequest, body: T, maxAgeSeconds: number) {
  const tag = `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22)}"`;
  const headers = { 'Cache-Control': `public, max-age=${maxAgeSeconds}`, ETag: tag };
  return isHeld(request.headers['if-none-match'], [tag])
    ? ({ status: 304, headers } as const)
    : ({ status: 200, headers, body } as const);
}
