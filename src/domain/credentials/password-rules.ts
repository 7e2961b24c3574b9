import { COMMON_PASSWORDS } from './common-passwords.js';
import type { PasswordFault } from './passwords.js';

const MIN_CHARACTERS = 8;
const MAX_CHARACTERS = 256;

/**
 * The form in which a password is judged, hashed and checked (NFKC): the same characters typed on another keyboard are the same password, though their bytes
 * may differ.
 */
export function normalizedPassword(password: string): string {
  return password.normalize('NFKC');
}

/** Why nobody may choose the password, if there is a reason. Anything else goes: rules about kinds of characters make passwords no better. */
export function faultOf(password: string, email: string): PasswordFault | undefined {
  const normalized = normalizedPassword(password);
  const characters = countOf(normalized);
  if (characters < MIN_CHARACTERS) {
    return 'too_short';
  }
  if (characters > MAX_CHARACTERS) {
    return 'too_long';
  }
  const folded = normalized.toLowerCase();
  const isOwnAddress = ownAddress(email).includes(folded);
  return isOwnAddress || COMMON_PASSWORDS.has(folded) ? 'too_common' : undefined;
}

/** The whole address, what stands before the @, and that without a tag such as +work. */
function ownAddress(email: string): string[] {
  const address = normalizedPassword(email).toLowerCase();
  const local = address.slice(0, address.lastIndexOf('@'));
  return [address, local, local.replace(/\+.*$/, '')];
}

/** Code points, as people count them more or less; no further than matters. */
function countOf(text: string): number {
  // A code point takes two units at most.
  return text.length > MAX_CHARACTERS * 2 ? text.length : [...text].length;
}
