import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
const ID_BYTES = 16;

/** A secret of its bearer: a cookie's value, a code, the name of an interaction, a mailed link. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Keys and tokens carry over 250 random bits, so one round of SHA-256 suffices. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** The hash that the store keeps of a secret. */
export function storedHash(secret: string): string {
  return hashSecret(secret).toString('base64url');
}

export function newRowId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}
