import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { RefreshTokens } from '../domain/sign-on/keys/signing.js';

const FAMILY_BYTES = 16;
const GENERATION_BYTES = 4;
const MAX_GENERATION = 2 ** (GENERATION_BYTES * 8) - 1;
const HMAC_BYTES = 32;
const NAMED_BYTES = FAMILY_BYTES + GENERATION_BYTES;
const TOKEN_BYTES = NAMED_BYTES + HMAC_BYTES;

/** Family, generation and the HMAC of both, in base64url. Each generation of a family has one token. */
export function refreshTokens(key: Uint8Array): RefreshTokens {
  const secret = createSecretKey(key);
  const hmacOf = (named: Uint8Array) => createHmac('sha256', secret).update(named).digest();
  return {
    seal: (grantId, generation) => {
      const named = nameOf(grantId, generation);
      return Buffer.concat([named, hmacOf(named)]).toString('base64url');
    },
    open: (token) => {
      const bytes = decoded(token, TOKEN_BYTES);
      if (
        bytes === undefined ||
        !timingSafeEqual(hmacOf(bytes.subarray(0, NAMED_BYTES)), bytes.subarray(NAMED_BYTES))
      ) {
        return undefined;
      }
      return {
        grantId: bytes.subarray(0, FAMILY_BYTES).toString('base64url'),
        generation: bytes.readUInt32BE(FAMILY_BYTES),
      };
    },
  };
}

function nameOf(grantId: string, generation: number): Buffer {
  const family = decoded(grantId, FAMILY_BYTES);
  if (
    family === undefined ||
    !Number.isInteger(generation) ||
    generation < 1 ||
    generation > MAX_GENERATION
  ) {
    throw new RangeError('A grant is named by 16 bytes in base64url, and its generations count from 1.');
  }
  const named = Buffer.alloc(NAMED_BYTES);
  named.set(family);
  named.writeUInt32BE(generation, FAMILY_BYTES);
  return named;
}

/** Accepts only the spelling of `seal`: base64url has others of the same bytes. */
function decoded(text: string, length: number): Buffer | undefined {
  if (text.length !== Math.ceil((length * 4) / 3)) {
    return undefined;
  }
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === length && bytes.toString('base64url') === text ? bytes : undefined;
}
