import { isLonger } from '../../characters.js';
import { snakeCase } from '../../platform/changes.js';

/** The maximum length of each parameter, as in the contract. `queryOf` writes them in this order. */
const MAX_LENGTHS = {
  responseType: 64,
  clientId: 64,
  redirectUri: 2_048,
  scope: 1_024,
  state: 4_096,
  nonce: 1_024,
  codeChallenge: 128,
  codeChallengeMethod: 64,
  responseMode: 64,
  prompt: 128,
  maxAge: 64,
  loginHint: 320,
  idTokenHint: 8_192,
  claims: 8_192,
  display: 64,
  uiLocales: 256,
  claimsLocales: 256,
  acrValues: 512,
  request: 8_192,
  requestUri: 2_048,
} as const;

type ParameterName = keyof typeof MAX_LENGTHS;

/** An authorization request as received: the first value of each parameter. */
export type AuthorizationParameters = { [Name in ParameterName]?: string } & {
  /** Wire names. */
  repeatedNames: readonly string[];
};

export const PARAMETER_NAMES = Object.keys(MAX_LENGTHS) as ParameterName[];

/** NUL, which databases refuse, and lone surrogates, which no address can carry. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const UNKEEPABLE = /[\u0000\p{Surrogate}]/u;

export function isKeepable(text: string, maxLength: number): boolean {
  return !isLonger(text, maxLength) && !UNKEEPABLE.test(text);
}

/** Why the parameter is refused regardless of its meaning; undefined if it is acceptable. */
export function faultOfParameter(
  parameters: AuthorizationParameters,
  name: ParameterName,
): string | undefined {
  const wireName = snakeCase(name);
  const maxLength = MAX_LENGTHS[name];
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
  const names = ABOUT_A_PERSON.map((name) => `${snakeCase(name)}=`);
  return query
    .split('&')
    .filter((pair) => !names.some((name) => pair.startsWith(name)))
    .join('&');
}

/** The query that repeats the request. */
export function queryOf(parameters: AuthorizationParameters): string {
  return PARAMETER_NAMES.flatMap((name) => {
    const text = parameters[name];
    return text === undefined ? [] : [`${snakeCase(name)}=${encodeURIComponent(text)}`];
  }).join('&');
}
