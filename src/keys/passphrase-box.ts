import { randomBytes, scryptSync } from 'node:crypto';
import { type Box, SealedBox } from './sealed-box.js';

const FORMAT = 'integration-passphrase-box/1';
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** Each guess costs 128 MiB and a few tenths of a second. */
const COST = { N: 131_072, r: 8, p: 1 };
const MEMORY_BYTES = 256 * 1024 * 1024;

/** Encrypts with AES-256-GCM, bound to the name. Scrypt derives the key from the passphrase. */
export function sealWithPassphrase(content: Uint8Array, passphrase: string, name: string): string {
  const salt = randomBytes(SALT_BYTES);
  const sealed = boxOf(passphrase, salt).seal(content, name);
  return `${JSON.stringify({ format: FORMAT, kdf: 'scrypt', ...COST, salt: salt.toString('base64url'), sealed }, null, 2)}\n`;
}

/** Throws a SealError for a wrong passphrase, another name or changed bytes. */
export function openWithPassphrase(text: string, passphrase: string, name: string): Buffer {
  const { format, N, r, p, salt, sealed } = JSON.parse(text) as Record<string, unknown>;
  // Only our own parameters: a file must not decide how much memory and time the derivation takes.
  if (format !== FORMAT || N !== COST.N || r !== COST.r || p !== COST.p) {
    throw new Error(`does not have the format ${FORMAT}`);
  }
  return boxOf(passphrase, Buffer.from(String(salt), 'base64url')).open(String(sealed), name);
}

function boxOf(passphrase: string, salt: Uint8Array): Box {
  // Keyboards encode the same letter differently.
  const words = passphrase.normalize('NFKC');
  return new SealedBox(scryptSync(words, salt, KEY_BYTES, { ...COST, maxmem: MEMORY_BYTES }));
}
