import { readUserinfo } from './claims.js';
import type { OAuthHandler } from './sign-on-handler.js';

export const userinfo: OAuthHandler<'userinfo'> = (request, dependencies) =>
  readUserinfo(request, dependencies);
