import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Bytes from here on are discarded, so that every character is equally likely. */
const REJECT_FROM = 256 - (256 % ALPHABET.length);

/** Filled many bytes at a time: a call costs more than the bytes. */
const pool = Buffer.alloc(4_096);
let used = pool.length;

export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const byte = pool[used] as number;
    used += 1;
    if (byte < REJECT_FROM) {
      text += ALPHABET[byte % ALPHABET.length];
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
