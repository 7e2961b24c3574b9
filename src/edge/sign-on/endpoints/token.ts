import type { IssueTokensRequest } from '../../../../generated/proto/integration/sign_on/v1/tokens.js';
import { hashSecret } from '../../../identifiers/random-secrets.js';
import { fromApplication, type OAuthFields } from '../oauth-request.js';
import { NO_STORE, type OAuthHandler } from '../sign-on-handler.js';

export const token: OAuthHandler<'token'> = async (request, dependencies) => {
  const { fields, client } = fromApplication(request, dependencies);
  const issued = await dependencies.signOn.issueTokens(
    { client, grant: grantOf(fields) },
    { requestId: request.requestId },
  );
  const { accessToken, expiresInSeconds, refreshToken, idToken, scope } = issued;
  return {
    status: 200,
    headers: NO_STORE,
    body: {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: expiresInSeconds,
      refresh_token: refreshToken,
      id_token: idToken,
      scope,
    },
  };
};

/** Undefined for an unsupported grant type: the domain refuses it after authenticating the client. */
function grantOf(fields: OAuthFields): IssueTokensRequest['grant'] {
  switch (fields.required('grant_type')) {
    case 'authorization_code':
      return {
        $case: 'authorizationCode',
        value: {
          codeHash: hashSecret(fields.required('code')),
          redirectUri: fields.required('redirect_uri'),
          codeVerifier: fields.optional('code_verifier'),
        },
      };
    case 'refresh_token':
      return {
        $case: 'refreshToken',
        value: { refreshToken: fields.required('refresh_token'), scope: fields.optional('scope') },
      };
    default:
      return undefined;
  }
}
