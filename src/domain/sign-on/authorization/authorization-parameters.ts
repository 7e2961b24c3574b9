/** In the order of a query; lengths as in the contract. */
const PARAMETERS = {
  responseType: { wireName: 'response_type', maxLength: 64 },
  clientId: { wireName: 'client_id', maxLength: 64 },
  redirectUri: { wireName: 'redirect_uri', maxLength: 2_048 },
  scope: { wireName: 'scope', maxLength: 1_024 },
  state: { wireName: 'state', maxLength: 4_096 },
  nonce: { wireName: 'nonce', maxLength: 1_024 },
  codeChallenge: { wireName: 'code_challenge', maxLength: 128 },
  codeChallengeMethod: { wireName: 'code_challenge_method', maxLength: 64 },
  responseMode: { wireName: 'response_mode', maxLength: 64 },
  prompt: { wireName: 'prompt', maxLength: 128 },
  maxAge: { wireName: 'max_age', maxLength: 64 },
  loginHint: { wireName: 'login_hint', maxLength: 320 },
  idTokenHint: { wireName: 'id_token_hint', maxLength: 8_192 },
  claims: { wireName: 'claims', maxLength: 8_192 },
  display: { wireName: 'display', maxLength: 64 },
  uiLocales: { wireName: 'ui_locales', maxLength: 256 },
  claimsLocales: { wireName: 'claims_locales', maxLength: 256 },
  acrValues: { wireName: 'acr_values', maxLength: 512 },
  request: { wireName: 'request', maxLength: 8_192 },
  requestUri: { wireName: 'request_uri', maxLength: 2_048 },
} as const;

type ParameterName = keyof typeof PARAMETERS;

/** An authorization request as received: the first value of each parameter. */
export type AuthorizationParameters = { [Name in ParameterName]?: string } & {
  /** Wire names. */
  repeatedNames: readonly string[];
};

export const PARAMETER_NAMES = Object.keys(PARAMETERS) as ParameterName[];

/** NUL, which databases refuse, and lone surrogates, which no address can carry. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const UNKEEPABLE = /[\u0000\p{Surrogate}]/u;

export function isKeepable(text: string, maxLength: number): boolean {
  return text.length <= maxLength && !UNKEEPABLE.test(text);
}

/** Why the parameter is refused regardless of its meaning; undefined if it is acceptable. */
export function faultOfParameter(
  parameters: AuthorizationParameters,
  name: ParameterName,
): string | undefined {
  const { wireName, maxLength } = PARAMETERS[name];
  if (parameters.repeatedNames.includes(wireName)) {
    return `${wireName} is sent more than once.`;
  }
  const text = parameters[name];
  return text === undefined || isKeepable(text, maxLength)
    ? undefined
    : `${wireName} is longer than ${maxLength} characters or has characters that cannot be kept.`;
}

/** A parameter without a value counts as absent (RFC 6749, section 3.1). */
export function withoutEmpty(parameters: AuthorizationParameters): AuthorizationParameters {
  const given = PARAMETER_NAMES.filter((name) => parameters[name] !== undefined && parameters[name] !== '');
  return {
    ...Object.fromEntries(given.map((name) => [name, parameters[name]])),
    repeatedNames: parameters.repeatedNames,
  };
}

/** The longest query that an interaction keeps; ID token hints make the longest. */
export const MAX_QUERY_LENGTH = 8_000;

/** Parameters that identify the expected person. */
const ABOUT_A_PERSON: readonly ParameterName[] = ['loginHint', 'idTokenHint', 'claims'];

/** The query without personal parameters. */
export function withoutPerson(query: string): string {
  const names = ABOUT_A_PERSON.map((name) => `${PARAMETERS[name].wireName}=`);
  return query
    .split('&')
    .filter((pair) => !names.some((name) => pair.startsWith(name)))
    .join('&');
}

/** The query that repeats the request. */
export function queryOf(parameters: AuthorizationParameters): string {
  return PARAMETER_NAMES.flatMap((name) => {
    const text = parameters[name];
    return text === undefined ? [] : [`${PARAMETERS[name].wireName}=${encodeURIComponent(text)}`];
  }).join('&');
}
