import { hkdfSync, randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  linkSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../files/folders.js';
import { writeWhole } from '../files/staged.js';

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

/** Refused permissions: any for others, writing for the group. Mounted secrets are group-readable. */
const TOO_OPEN = 0o037;
const GROUP_READS = 0o040;
const FOR_GROUP = 0o640;
/** For `fchown`: does not change the owner. */
const SAME = -1;
/** Much more than the largest number of keys takes. */
const MAX_BYTES = 4_096;

export const OTHER_KEY_FILE =
  'The signing keys in the database were sealed with another key file. Set SECRETS_KEY_FILE to the one that belongs to this database.';

export const LOST_AUDIT_KEY =
  'The key of the audit log is missing from the table token_keys (purpose audit), and the log has records made with it. Restore that row, or the database, from a backup.';

/** Why the key file cannot be used, as a sentence for the operator. */
export class SecretsKeyError extends Error {
  override readonly name = 'SecretsKeyError';
}

/** The keys of SECRETS_KEY_FILE, oldest first. */
export function readSecretsKeys(path: string): EncryptionKey[] {
  const file = opened(path);
  try {
    const stats = fstatSync(file);
    const content = Buffer.alloc(MAX_BYTES + 1);
    const length = stats.isFile() ? readSync(file, content) : 0;
    const keys = parsed(path, content.subarray(0, length));
    if (process.platform !== 'win32' && (stats.mode & TOO_OPEN) !== 0) {
      throw new SecretsKeyError(
        `The key file ${path} is open to other users of this machine. Let only its owner use it: chmod 600 ${path}`,
      );
    }
    return keys;
  } finally {
    closeSync(file);
  }
}

/** Makes the key file unless it exists. Two processes that make one at the same time get the same keys. */
export function makeSecretsKeys(path: string): EncryptionKey[] {
  if (!existsSync(path)) {
    placeSecretsKeys(path, [newKey()]);
  }
  return readSecretsKeys(path);
}

/** Writes a new key file, such as from a backup; keeps an existing one. Returns whether it made the file. */
export function placeSecretsKeys(path: string, keys: readonly EncryptionKey[]): boolean {
  let isMade = false;
  writing(path, () => {
    makeFolder(dirname(path));
    writeWhole(path, keyFileText(keys), (staged) => {
      isMade = linkUnlessThere(staged, path);
    });
  });
  return isMade;
}

export function newKey(): EncryptionKey {
  return encryptionKey(randomBytes(KEY_BYTES));
}

/**
 * Refuses a file in a folder that this user may not write to, such as one that is mounted read-only; and for
 * root, a file of another user, who could use neither the new file nor the lock. Root must not give them to
 * that user, who could replace this folder by a link to any other one.
 */
export function assertReplaceable(path: string): void {
  const present = statSync(path);
  if (isOfAnother(present)) {
    throw new SecretsKeyError(
      `The key file ${path} belongs to another user (uid ${present.uid}), who could not read one that root makes. Run this command as that user.`,
    );
  }
  const folder = dirname(realpathSync(path));
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new SecretsKeyError(
      `The key file ${path} cannot be replaced, because its folder ${folder} cannot be written. Change a copy: set SECRETS_KEY_FILE to the copy for this command, and then put the copy in the place of the file.`,
      { cause: error },
    );
  }
}

/** Replaces the keys of the file. Behind a link it replaces the file, and keeps the link. */
export function replaceSecretsKeys(path: string, keys: readonly EncryptionKey[]): void {
  writing(path, () => {
    const file = realpathSync(path);
    const present = statSync(file);
    writeWhole(file, keyFileText(keys), renameSync, (made) => keepGroup(made, present));
  });
}

/** Of a user to whom root gives no keys, also if that user has put the file there in the meantime. */
function isOfAnother({ uid }: Stats): boolean {
  return process.getuid?.() === 0 && uid !== 0;
}

/** A group that could read the file can read the new one: the service may be in it. */
function keepGroup(file: number, present: Stats): void {
  const { gid, mode } = present;
  if ((mode & GROUP_READS) === 0 || isOfAnother(present)) {
    return;
  }
  try {
    fchownSync(file, SAME, gid);
    fchmodSync(file, FOR_GROUP);
  } catch {
    // This user is not in the group: the file stays for its owner alone.
  }
}

function parsed(path: string, content: Buffer): EncryptionKey[] {
  try {
    return parseKeyFile(content);
  } catch (error) {
    throw new SecretsKeyError(`The key file ${path} ${(error as Error).message}`);
  }
}

function writing(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new SecretsKeyError(`The key file ${path} cannot be written: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

function opened(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SecretsKeyError(
      code === 'ENOENT'
        ? `There is no key file at ${path}. \`integration init\` makes it; one that is lost must come from its copy: set SECRETS_KEY_FILE to where that is. For the demo, set ENVIRONMENT to demo.`
        : `The key file ${path} cannot be read: ${message}.`,
      { cause: error },
    );
  }
}

function linkUnlessThere(staged: string, path: string): boolean {
  try {
    linkSync(staged, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
    return false;
  }
}
