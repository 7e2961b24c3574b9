import { OAuthError, SignInError } from './errors.js';

/** The code of a callback, verified to answer our request. */
export function callbackCode(
  callbackUrl: string | URL,
  expected: { redirectUri: string; state: string; issuer: string },
): string {
  const parameters = parametersOf(callbackUrl, expected.redirectUri);
  for (const name of ['code', 'state', 'iss', 'error']) {
    if (parameters.getAll(name).length > 1) {
      throw new SignInError('callback_malformed', `The parameter ${name} came more than once.`);
    }
  }
  if (expected.state === '' || parameters.get('state') !== expected.state) {
    throw new SignInError('state_mismatch', 'The browser came back with an answer to another request.');
  }
  if (parameters.get('iss') !== expected.issuer) {
    throw new SignInError('issuer_mismatch', `The answer is not from ${expected.issuer}.`);
  }
  const error = parameters.get('error');
  if (error !== null) {
    const description = parameters.get('error_description');
    throw new OAuthError({ error, description, status: null, requestId: null, retryAfterSeconds: null });
  }
  const code = parameters.get('code');
  if (!code) {
    throw new SignInError('callback_malformed', 'The browser came back without a code.');
  }
  return code;
}

/** Any client can send what is no address. */
function parametersOf(callbackUrl: string | URL, redirectUri: string): URLSearchParams {
  try {
    return new URL(callbackUrl, redirectUri).searchParams;
  } catch (cause) {
    const message = 'The address to which the browser came back cannot be read.';
    throw new SignInError('callback_malformed', message, { cause });
  }
}
