import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { looksLikeIdToken, presentedToken } from '../oauth-request.js';
import { NO_STORE, type OAuthHandler } from '../sign-on-handler.js';

export const revoke: OAuthHandler<'revoke'> = async (request, dependencies) => {
  const { client, presented, token } = await presentedToken(request, dependencies);
  await dependencies.signOn.revokeToken({ client, token }, { requestId: request.requestId });
  // The application is authenticated by now, and learns of its mistake.
  if (token === undefined && looksLikeIdToken(presented, dependencies.signOnUrl)) {
    const message = 'An ID token cannot be revoked. Send the refresh token or the access token.';
    throw new ServiceError(ErrorCode.UNSUPPORTED_TOKEN_TYPE, message);
  }
  // RFC 7009 gives the body no meaning; some libraries parse it as JSON, and an empty one fails.
  return { status: 200, headers: NO_STORE, body: {} };
};
