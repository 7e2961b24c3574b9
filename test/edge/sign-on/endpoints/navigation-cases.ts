import type { NavigationCase } from './navigation-suite.js';

/** The parameters by their names in an address, with those in the message. */
const AUTHORIZATION: Record<string, string> = {
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
};

const LOGOUT: Record<string, string> = {
  id_token_hint: 'idTokenHint',
  logout_hint: 'logoutHint',
  client_id: 'clientId',
  post_logout_redirect_uri: 'postLogoutRedirectUri',
  state: 'state',
  ui_locales: 'uiLocales',
};

type Shared = Pick<NavigationCase, 'path' | 'method' | 'parameters' | 'toMessage'>;

const valuesOf = (names: Record<string, string>) =>
  Object.fromEntries(Object.keys(names).map((name) => [name, `${name} "ü" & 100%+`]));

const toFields = (names: Record<string, string>, parameters: Record<string, string>) =>
  Object.fromEntries(Object.entries(names).map(([name, field]) => [field, parameters[name]]));

export const authorization: Shared = {
  path: '/auth/authorize',
  method: 'authorize',
  parameters: valuesOf(AUTHORIZATION),
  toMessage: (parameters, repeatedNames) => ({
    parameters: { ...toFields(AUTHORIZATION, parameters), repeatedNames },
  }),
};

export const signOut: Shared = {
  path: '/auth/logout',
  method: 'logout',
  parameters: valuesOf(LOGOUT),
  toMessage: (parameters, repeatedNames) => ({ ...toFields(LOGOUT, parameters), repeatedNames }),
};
