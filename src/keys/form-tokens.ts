import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { FormTokens } from '../domain/sign-on/keys/signing.js';

export function formTokens(key: Uint8Array): FormTokens {
  const secret = createSecretKey(key);
  const make = (...parts: readonly string[]) => hmacOf(secret, parts).toString('base64url');
  return {
    make,
    matches: (token, ...parts) => {
      const [given, expected] = [Buffer.from(token), Buffer.from(make(...parts))];
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

/** Prefixes each part with its length, so that different lists of parts never give the same bytes. */
function hmacOf(key: KeyObject, parts: readonly string[]): Buffer {
  const hmac = createHmac('sha256', key);
  for (const part of parts) {
    const bytes = Buffer.from(part);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hmac.update(length).update(bytes);
  }
  return hmac.digest();
}
