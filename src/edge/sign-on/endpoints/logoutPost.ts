import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import { askedAgain, readForm } from '../navigation.js';
import type { OAuthHandler } from '../sign-on-handler.js';
import { beginSignOut, LOGOUT_PARAMETERS } from './sign-out.js';

const { path } = operations.logout;
/** A malformed form still signs out, but does not return to the application. */
const BY_ADDRESS = { path, names: Object.keys(LOGOUT_PARAMETERS), continueUrl: path };

export const logoutPost: OAuthHandler<'logoutPost'> = async (request, dependencies) => {
  const { fields, refusal } = readForm(request, dependencies);
  return (
    refusal ??
    askedAgain(request, fields, BY_ADDRESS, dependencies) ??
    beginSignOut(request, fields, dependencies)
  );
};
