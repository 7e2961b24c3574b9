import { createHash } from 'node:crypto';

/** Keys and tokens carry over 250 random bits, so one round of SHA-256 suffices. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
