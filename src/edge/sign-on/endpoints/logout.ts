import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import type { LogoutRequest } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import type { ReceivedRequest } from '../../contract/typed-handler.js';
import type { Fields } from '../../http/parsers.js';
import { browserOf } from '../browser.js';
import { byAddress, byForm, namedParameters } from '../navigation.js';
import type { OAuthHandler, SignOnDependencies } from '../sign-on-handler.js';
import { stepAnswer } from '../step.js';

const { path } = operations.logout;

const PARAMETERS = {
  id_token_hint: 'idTokenHint',
  logout_hint: 'logoutHint',
  client_id: 'clientId',
  post_logout_redirect_uri: 'postLogoutRedirectUri',
  state: 'state',
  ui_locales: 'uiLocales',
} as const satisfies Record<string, keyof LogoutRequest>;

/** Begins a sign-out, by address or by form. */
async function beginSignOut(request: ReceivedRequest, fields: Fields, dependencies: SignOnDependencies) {
  const { step } = await dependencies.signOn.logout(
    { browser: browserOf(request, dependencies), ...namedParameters(fields, PARAMETERS) },
    { requestId: request.requestId },
  );
  return stepAnswer(step, request.requestId, dependencies);
}

export const logout: OAuthHandler<'logout'> = byAddress(beginSignOut);

export const logoutPost: OAuthHandler<'logoutPost'> = byForm(beginSignOut, {
  path,
  names: Object.keys(PARAMETERS),
  // A form that is too long still signs out, but does not return to the application.
  continueUrl: path,
});
