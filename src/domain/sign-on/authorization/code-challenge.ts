import type { Application } from '../../operator/rows/applications.js';

/** SHA-256 in base64url: of the last character only four bits count, so others match no verifier. */
const S256_CHALLENGE = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** Why the challenge is refused; undefined if it is valid, or absent and not required. */
export function faultOfCodeChallenge(
  application: Pick<Application, 'type' | 'requirePkce'>,
  challenge: string | undefined,
  method: string | undefined,
): string | undefined {
  if (challenge === undefined) {
    if (method !== undefined) {
      return 'code_challenge_method comes without code_challenge.';
    }
    // A public application has no other binding of the code.
    return application.type === 'public' || application.requirePkce
      ? 'code_challenge is missing; this application must use PKCE.'
      : undefined;
  }
  if (method !== 'S256') {
    // The default method of RFC 7636 is `plain`, which does not protect against readers of the request.
    return 'code_challenge_method must be S256.';
  }
  return S256_CHALLENGE.test(challenge)
    ? undefined
    : 'code_challenge must be the SHA-256 of the verifier in base64url, 43 characters.';
}
