import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import { askedAgain, readForm } from '../navigation.js';
import type { OAuthHandler } from '../sign-on-handler.js';
import { AUTHORIZATION_PARAMETERS, beginAuthorization } from './authorization.js';

const BY_ADDRESS = { path: operations.authorize.path, names: Object.keys(AUTHORIZATION_PARAMETERS) };

export const authorizePost: OAuthHandler<'authorizePost'> = async (request, dependencies) => {
  const { fields, refusal } = readForm(request, dependencies);
  return (
    refusal ??
    askedAgain(request, fields, BY_ADDRESS, dependencies) ??
    beginAuthorization(request, fields, dependencies)
  );
};
