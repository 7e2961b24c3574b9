import { readUserinfo } from './claims.js';
import type { OAuthHandler } from './sign-on-handler.js';

export const userinfoPost: OAuthHandler<'userinfoPost'> = (request, dependencies) =>
  readUserinfo(request, dependencies);
