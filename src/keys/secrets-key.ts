import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../files/folders.js';
import { writeWhole } from '../files/staged.js';
import { type EncryptionKey, encryptionKey, KEY_BYTES, keyFileText, parseKeyFile } from './encryption-key.js';

/** Refused permissions: any for others, writing for the group. Mounted secrets are group-readable. */
const TOO_OPEN = 0o037;
/** Much more than the largest number of keys takes. */
const MAX_BYTES = 4_096;

export const OTHER_KEY_FILE =
  'The signing keys in the database were sealed with another key file. Set SECRETS_KEY_FILE to the one that belongs to this database.';

export const LOST_AUDIT_KEY =
  'The key of the audit log is missing from the table token_keys (purpose audit), and the log has records made with it. Restore that row, or the database, from a backup.';

/** Why the key file cannot be used, as a sentence for the operator. */
export class SecretsKeyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SecretsKeyError';
  }
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

/** Refuses a file in a folder that this user may not write to, such as one that is mounted read-only. */
export function assertReplaceable(path: string): void {
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
  writing(path, () => writeWhole(realpathSync(path), keyFileText(keys)));
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
