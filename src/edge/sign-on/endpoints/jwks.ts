import type { components } from '../../../../generated/openapi/sign-on.js';
import type { OAuthHandler } from '../sign-on-handler.js';
import { published } from './published.js';

export const jwks: OAuthHandler<'jwks'> = async (request, { signOn }) => {
  const { keys, maxAgeSeconds } = await signOn.getKeySet({}, { requestId: request.requestId });
  const set = { keys: keys.map(({ jwkJson }) => JSON.parse(jwkJson) as components['schemas']['Jwk']) };
  return published(request, set, maxAgeSeconds);
};
