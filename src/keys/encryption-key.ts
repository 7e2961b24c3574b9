import { hkdfSync } from 'node:crypto';

export const KEY_BYTES = 32;
/** Bounds the keys that a seal without an id can make the service try, and the work of sealing anew. */
export const MAX_KEYS = 8;

const ID_BYTES = 8;
const ID = /^ek_[0-9a-f]{16}$/;
const HEADER = '# integration-service encryption keys, version 1';
const NOTE = '# Keep a copy apart from copies of the database. One key a line: its id, then the key.';

/** A key of the key file. Its fingerprint is its id, so a damaged line is noticed and ids are unique. */
export interface EncryptionKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

export function encryptionKey(bytes: Uint8Array): EncryptionKey {
  const fingerprint = Buffer.from(hkdfSync('sha256', bytes, '', 'integration-service/key-id', ID_BYTES));
  return { id: `ek_${fingerprint.toString('hex')}`, bytes };
}

/** Parses a key file; throws an Error whose message completes "The key file … ". */
export function parseKeyFile(content: Buffer): EncryptionKey[] {
  // The format of the first releases: one raw key.
  if (content.length === KEY_BYTES) {
    return [encryptionKey(Buffer.from(content))];
  }
  const [header, ...lines] = content.toString('latin1').split(/\r?\n/);
  if (header !== HEADER) {
    throw new Error(
      `holds neither a key of ${KEY_BYTES} bytes nor a list of keys. Put the right one there, or move it away.`,
    );
  }
  const keys = lines.flatMap((line, index) =>
    line.trim() === '' || line.startsWith('#') ? [] : [keyOf(line, index + 2)],
  );
  if (keys.length === 0 || keys.length > MAX_KEYS) {
    throw new Error(`must hold 1 to ${MAX_KEYS} keys, and holds ${keys.length}.`);
  }
  if (new Set(keys.map(({ id }) => id)).size < keys.length) {
    throw new Error('names a key twice. Remove one of the two lines.');
  }
  return keys;
}

export function keyFileText(keys: readonly EncryptionKey[]): string {
  const lines = keys.map(({ id, bytes }) => `${id} ${Buffer.from(bytes).toString('base64url')}`);
  return `${[HEADER, NOTE, ...lines].join('\n')}\n`;
}

/** Its message omits the line, which is a secret. */
function keyOf(line: string, number: number): EncryptionKey {
  const [id = '', text = '', ...more] = line.trim().split(/\s+/);
  const bytes = Buffer.from(text, 'base64url');
  const isWhole = bytes.length === KEY_BYTES && bytes.toString('base64url') === text && more.length === 0;
  const key = encryptionKey(bytes);
  if (!ID.test(id) || !isWhole || key.id !== id) {
    throw new Error(
      `is damaged in line ${number}: the key does not belong to its id. Restore the file from its copy.`,
    );
  }
  return key;
}
