import type { AccountId, ApplicationId } from '../../../../generated/ids.js';
import type { ActiveToken } from '../../../../generated/proto/integration/sign_on/v1/tokens.js';
import { present } from '../../../errors/service-error.js';
import { presentedToken } from '../oauth-request.js';
import { NO_STORE, type OAuthHandler, type SignOnDependencies } from '../sign-on-handler.js';

export const introspect: OAuthHandler<'introspect'> = async (request, dependencies) => {
  const { client, token } = await presentedToken(request, dependencies);
  const answer = await dependencies.signOn.introspectToken(
    { client, token },
    { requestId: request.requestId },
  );
  return {
    status: 200,
    headers: NO_STORE,
    body: answer.active ? toBody(present(answer.token), dependencies) : { active: false },
  };
};

function toBody(token: ActiveToken, { signOnUrl: iss }: SignOnDependencies) {
  const { scope, clientId, sub, issuedAt, expiresAt, tokenId } = token;
  return {
    active: true,
    scope,
    client_id: clientId as ApplicationId,
    sub: sub as AccountId,
    iss,
    iat: secondsOf(present(issuedAt)),
    exp: secondsOf(present(expiresAt)),
    ...(tokenId === undefined ? {} : { token_type: 'Bearer', aud: iss, jti: tokenId }),
  };
}

function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}
