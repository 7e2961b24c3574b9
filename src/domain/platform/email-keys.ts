import { domainToASCII } from 'node:url';

/** Zero-width characters, soft hyphens and the like. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const IDEOGRAPHIC_DOT = /\u3002/g;
/** What a name of the DNS is written with; anything else would be read as more than a name. */
const DOMAIN = /^[\p{L}\p{M}\p{N}._-]+$/u;

/**
 * What says which mailbox an address means: however its letters are composed (NFC, NFD), wide or narrow, in capitals or not, with characters that nobody sees, and with its
 * domain in letters or in Punycode. Everything that compares addresses compares this; that of a key is the key.
 */
export function emailKeyOf(email: string): string {
  const folded = email.normalize('NFKC').replace(INVISIBLE, '').toLowerCase().normalize('NFKC').trim();
  const at = folded.lastIndexOf('@');
  if (at < 0) {
    return folded;
  }
  const domain = folded.slice(at + 1).replace(IDEOGRAPHIC_DOT, '.');
  const ascii = DOMAIN.test(domain) ? domainToASCII(domain) : '';
  return `${folded.slice(0, at + 1)}${ascii === '' ? domain : ascii}`;
}

/** Finds the one of two accounts whose addresses, written in two ways, turned out to mean one mailbox. */
export function exactEmailKeyOf(email: string): string {
  return email.trim().toLowerCase();
}
