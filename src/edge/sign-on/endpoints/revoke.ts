import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { authenticationOf } from '../client-authentication.js';
import { NO_STORE } from '../no-store.js';
import { OAuthFields, refuseSecretsInQuery } from '../oauth-fields.js';
import { looksLikeIdToken, presentedToken } from '../presented-token.js';
import type { OAuthHandler } from '../sign-on-handler.js';

export const revoke: OAuthHandler<'revoke'> = async (request, dependencies) => {
  refuseSecretsInQuery(request);
  const fields = new OAuthFields(request.body);
  const client = authenticationOf(request, fields, dependencies.environment);
  const presented = fields.required('token');
  fields.optional('token_type_hint');
  const token = await presentedToken(presented, dependencies);
  await dependencies.signOn.revokeToken({ client, token }, { requestId: request.requestId });
  // The application is authenticated by now, and learns of its mistake.
  if (token === undefined && looksLikeIdToken(presented)) {
    const message = 'An ID token cannot be revoked. Send the refresh token or the access token.';
    throw new ServiceError(ErrorCode.UNSUPPORTED_TOKEN_TYPE, message);
  }
  // RFC 7009 gives the body no meaning; some libraries parse it as JSON, and an empty one fails.
  return { status: 200, headers: NO_STORE, body: {} };
};
