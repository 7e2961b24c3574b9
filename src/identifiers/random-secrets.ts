import { randomBytes } from 'node:crypto';
import { hashSecret } from './secret-hash.js';

const SECRET_BYTES = 32;
const ID_BYTES = 16;

/** A secret of its bearer: a cookie's value, a code, the name of an interaction, a mailed link. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** The hash that the store keeps of a secret. */
export function storedHash(secret: string): string {
  return hashSecret(secret).toString('base64url');
}

export function newRowId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}
