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
