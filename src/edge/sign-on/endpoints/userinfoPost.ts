import type { OAuthHandler } from '../sign-on-handler.js';
import { readUserinfo } from './claims.js';

export const userinfoPost: OAuthHandler<'userinfoPost'> = (request, dependencies) =>
  readUserinfo(request, dependencies);
