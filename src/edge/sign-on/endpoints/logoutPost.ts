import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import { byForm } from '../navigation.js';
import type { OAuthHandler } from '../sign-on-handler.js';
import { beginSignOut, LOGOUT_PARAMETERS } from './logout.js';

const { path } = operations.logout;

export const logoutPost: OAuthHandler<'logoutPost'> = byForm(beginSignOut, {
  path,
  names: Object.keys(LOGOUT_PARAMETERS),
  // A form that is too long still signs out, but does not return to the application.
  continueUrl: path,
});
