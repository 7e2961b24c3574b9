import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import type { AuthorizationParameters } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import type { ReceivedRequest } from '../../contract/typed-handler.js';
import type { Fields } from '../../http/parsers.js';
import { browserOf, isEmbedded } from '../browser.js';
import { byAddress, byForm, namedParameters } from '../navigation.js';
import type { OAuthHandler, SignOnDependencies } from '../sign-on-handler.js';
import { authorizationAnswer } from '../step.js';

/** The known parameters, by their names in the message. */
const PARAMETERS = {
  response_type: 'responseType',
  client_id: 'clientId',
  redirect_uri: 'redirectUri',
  scope: 'scope',
  state: 'state',
  nonce: 'nonce',
  code_challenge: 'codeChallenge',
  code_challenge_method: 'codeChallengeMethod',
  response_mode: 'responseMode',
  prompt: 'prompt',
  max_age: 'maxAge',
  login_hint: 'loginHint',
  id_token_hint: 'idTokenHint',
  claims: 'claims',
  display: 'display',
  ui_locales: 'uiLocales',
  claims_locales: 'claimsLocales',
  acr_values: 'acrValues',
  request: 'request',
  request_uri: 'requestUri',
} as const satisfies Record<string, keyof AuthorizationParameters>;

const EMBEDDED = {
  message:
    'A page asked for this sign-in by itself, which we do not answer. Go back to the application and try again.',
  developerMessage:
    'Send the browser here (Sec-Fetch-Dest: document). In a frame of another site, only prompt=none is answered.',
};

/** Begins an authorization, by address or by form; the domain judges all parameters. */
async function beginAuthorization(
  request: ReceivedRequest,
  fields: Fields,
  dependencies: SignOnDependencies,
) {
  const parameters = namedParameters(fields, PARAMETERS);
  // As the domain judges it, but before it is asked.
  const isSilent = parameters.prompt === 'none' && !parameters.repeatedNames.includes('prompt');
  // Not counted: another site could use up what the network of the browser may begin.
  if (isEmbedded(request, isSilent)) {
    return dependencies.pages.error({ ...EMBEDDED, requestId: request.requestId });
  }
  const { step } = await dependencies.signOn.authorize(
    { browser: browserOf(request, dependencies), parameters },
    { requestId: request.requestId },
  );
  return authorizationAnswer(step, request.requestId, dependencies, { isSilent });
}

export const authorize: OAuthHandler<'authorize'> = byAddress(beginAuthorization);

export const authorizePost: OAuthHandler<'authorizePost'> = byForm(beginAuthorization, {
  path: operations.authorize.path,
  names: Object.keys(PARAMETERS),
});
