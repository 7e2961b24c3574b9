import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import { byForm } from '../navigation.js';
import type { OAuthHandler } from '../sign-on-handler.js';
import { AUTHORIZATION_PARAMETERS, beginAuthorization } from './authorize.js';

export const authorizePost: OAuthHandler<'authorizePost'> = byForm(beginAuthorization, {
  path: operations.authorize.path,
  names: Object.keys(AUTHORIZATION_PARAMETERS),
});
