import { OAuthError, SignInError } from './errors.js';

const RANDOM_BYTES = 32;

/** 43 random characters: state, nonce or code verifier. */
export function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));
}

/** The challenge of a verifier by S256 (RFC 7636). */
export async function challengeOf(codeVerifier: string): Promise<string> {
  const bytes = new TextEncoder().encode(codeVerifier);
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

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
  if (!expected.state || parameters.get('state') !== expected.state) {
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
  } catch {
    // The error of the platform has the whole address, and so the code.
    const message = 'The address to which the browser came back cannot be read.';
    throw new SignInError('callback_malformed', message);
  }
}
