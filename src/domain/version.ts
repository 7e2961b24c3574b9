import { randomBytes } from 'node:crypto';

/** A random value that each change of a thing rewrites; equal versions mean equal answers. */
export function newVersion(): string {
  return randomBytes(15).toString('base64url');
}
