import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

const KEY_BYTES = 32;

/** Anybody else's reading, anybody else's writing. A group may read: that is how a mounted secret comes. */
const TOO_OPEN = 0o037;

/** Why the key file cannot be used, as a sentence for whoever started the service. */
export class SecretsKeyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SecretsKeyError';
  }
}

/** The key of SECRETS_KEY_FILE, from which every other key of the environment follows. */
export function readSecretsKey(path: string): Buffer {
  const file = opened(path);
  try {
    const stats = fstatSync(file);
    const content = Buffer.alloc(KEY_BYTES);
    if (!stats.isFile() || stats.size !== KEY_BYTES || readSync(file, content) !== KEY_BYTES) {
      throw new SecretsKeyError(
        `The file ${path} is no key of ${KEY_BYTES} bytes. Put the right one there, or move it away.`,
      );
    }
    if (process.platform !== 'win32' && (stats.mode & TOO_OPEN) !== 0) {
      throw new SecretsKeyError(
        `The key file ${path} is open to other users of this machine. Let only its owner use it: chmod 600 ${path}`,
      );
    }
    return content;
  } finally {
    closeSync(file);
  }
}

/**
 * Makes the key file unless there is one, and leaves one that is there as it is. The whole key is on the disk before the file has its name: there is never half a key, and of two
 * who make one at the same time both get the same.
 */
export function makeSecretsKey(path: string): Buffer {
  if (!existsSync(path)) {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeWhole(path, randomBytes(KEY_BYTES));
    } catch (error) {
      throw new SecretsKeyError(`The key file ${path} cannot be written: ${(error as Error).message}.`, {
        cause: error,
      });
    }
  }
  return readSecretsKey(path);
}

function opened(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SecretsKeyError(
      code === 'ENOENT'
        ? `There is no key file at ${path}. \`integration init\` makes it; one that is lost must come from its copy: set SECRETS_KEY_FILE to where that is.`
        : `The key file ${path} cannot be read: ${message}.`,
      { cause: error },
    );
  }
}

function writeWhole(path: string, content: Buffer): void {
  const staged = `${path}.${randomBytes(8).toString('hex')}`;
  const file = openSync(staged, 'wx', 0o600);
  try {
    writeSync(file, content);
    fsyncSync(file);
    linkUnlessThere(staged, path);
  } finally {
    closeSync(file);
    rmSync(staged);
  }
  syncDirectory(dirname(path));
}

function linkUnlessThere(staged: string, path: string): void {
  try {
    linkSync(staged, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
  }
}

/** The name is on the disk too. Some systems do not open directories; there the file's own sync has to do. */
function syncDirectory(path: string): void {
  let directory: number | undefined;
  try {
    directory = openSync(path, 'r');
    fsyncSync(directory);
  } catch {
    return;
  } finally {
    if (directory !== undefined) {
      closeSync(directory);
    }
  }
}
