import { domainToASCII } from 'node:url';

/** Zero-width characters, soft hyphens and the like. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const IDEOGRAPHIC_DOT = /\u3002/g;
/** The characters of a DNS name. */
const DOMAIN = /^[\p{L}\p{M}\p{N}._-]+$/u;

/** No address is longer. To normalize such a text can take seconds, in which the domain answers no call. */
const MAX_ADDRESS_LENGTH = 1_024;

/**
 * The mailbox that an address means: equal for all spellings (NFC, NFD, width, case, invisible characters,
 * Punycode). Addresses are compared by it. A key is its own key, and so is a text that is too long.
 */
export function emailKeyOf(email: string): string {
  if (email.length > MAX_ADDRESS_LENGTH) {
    return email;
  }
  const folded = beginningKeyOf(email);
  const at = folded.lastIndexOf('@');
  if (at < 0) {
    return folded;
  }
  const domain = folded.slice(at + 1).replace(IDEOGRAPHIC_DOT, '.');
  const ascii = DOMAIN.test(domain) ? domainToASCII(domain) : '';
  return `${folded.slice(0, at + 1)}${ascii === '' ? domain : ascii}`;
}

/** Of the beginning of an address. The rest of its domain decides how that is written in a key. */
export function beginningKeyOf(text: string): string {
  return text.normalize('NFKC').replace(INVISIBLE, '').toLowerCase().normalize('NFKC').trim();
}

/** The keys to look for: that of the mailbox, and that of an older account which shares it. */
export function emailKeysOf(email: string): [string, string] {
  return [emailKeyOf(email), exactEmailKeyOf(email)];
}

/** Distinguishes two accounts whose addresses are spellings of one mailbox. */
export function exactEmailKeyOf(email: string): string {
  return email.trim().toLowerCase();
}
