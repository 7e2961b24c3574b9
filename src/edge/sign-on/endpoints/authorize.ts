import { readQuery } from '../navigation.js';
import type { OAuthHandler } from '../sign-on-handler.js';
import { beginAuthorization } from './authorization.js';

export const authorize: OAuthHandler<'authorize'> = async (request, dependencies) => {
  const { fields, refusal } = readQuery(request, dependencies);
  return refusal ?? beginAuthorization(request, fields, dependencies);
};
