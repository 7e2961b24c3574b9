import type { Application } from '../operator/applications.js';

/** SHA-256 in base64url: of its last character only four bits count, so that a text which no verifier can match is refused at once. */
const S256_CHALLENGE = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** Why the challenge cannot be taken, or undefined if it can, or if there is none and the application does without. */
export function faultOfCodeChallenge(
  application: Pick<Application, 'type' | 'requirePkce'>,
  challenge: string | undefined,
  method: string | undefined,
): string | undefined {
  if (challenge === undefined) {
    if (method !== undefined) {
      return 'code_challenge_method comes without code_challenge.';
    }
    // A public application has nothing else that ties the code to it.
    return application.type === 'public' || application.requirePkce
      ? 'code_challenge is missing; this application must use PKCE.'
      : undefined;
  }
  if (method !== 'S256') {
    // Without a method RFC 7636 means `plain`, which protects nobody who can read the request.
    return 'code_challenge_method must be S256.';
  }
  return S256_CHALLENGE.test(challenge)
    ? undefined
    : 'code_challenge must be the SHA-256 of the verifier in base64url, 43 characters.';
}
