import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import type { OAuthHandler } from '../sign-on-handler.js';
import { published } from './published.js';

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
