import { createHash, timingSafeEqual } from 'node:crypto';

const SHAPE = /^[A-Za-z0-9._~-]{43,128}$/;

/** The length and alphabet of RFC 7636. */
export function isCodeVerifier(text: string): boolean {
  return SHAPE.test(text);
}

/** Whether `BASE64URL(SHA256(verifier))` is the challenge (S256, the only method). */
export function provesChallenge(verifier: string, challenge: string): boolean {
  const proof = Buffer.from(createHash('sha256').update(verifier, 'ascii').digest('base64url'));
  const expected = Buffer.from(challenge);
  return proof.length === expected.length && timingSafeEqual(proof, expected);
}
