import type { OAuthHandler } from '../sign-on-handler.js';
import { readUserinfo } from './claims.js';

export const userinfo: OAuthHandler<'userinfo'> = (request, dependencies) =>
  readUserinfo(request, dependencies);
