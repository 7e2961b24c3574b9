import { randomBytes } from 'node:crypto';

/** A random value that every change replaces; equal versions mean equal answers. */
export function newVersion(): string {
  return randomBytes(15).toString('base64url');
}
