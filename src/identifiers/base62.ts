import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Bytes from here on are thrown away, so that every character is equally likely. */
const REJECT_FROM = 256 - (256 % ALPHABET.length);

export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length + 8)) {
      if (byte < REJECT_FROM && text.length < length) {
        text += ALPHABET[byte % ALPHABET.length];
      }
    }
  }
  return text;
}

export function toBase62(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / ALPHABET.length)) {
    text = ALPHABET[rest % ALPHABET.length] + text;
  }
  return text;
}
