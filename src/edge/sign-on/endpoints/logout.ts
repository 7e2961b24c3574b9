import { readQuery } from '../navigation.js';
import type { OAuthHandler } from '../sign-on-handler.js';
import { beginSignOut } from './sign-out.js';

export const logout: OAuthHandler<'logout'> = async (request, dependencies) => {
  const { fields, refusal } = readQuery(request, dependencies);
  return refusal ?? beginSignOut(request, fields, dependencies);
};
