import { chmodSync, existsSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { makeSecretsKey, readSecretsKey, SecretsKeyError } from '../../src/keys/secrets-key.js';
import { newTemporaryDirectory } from '../support/temporary-directory.js';

let directory: string;
let path: string;

beforeEach(() => {
  directory = newTemporaryDirectory();
  path = join(directory, 'secrets.key');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(content: Buffer | string, mode = 0o600): void {
  writeFileSync(path, content);
  chmodSync(path, mode);
}

function refusalOf(use: () => unknown): string {
  try {
    use();
  } catch (error) {
    expect(error).toBeInstanceOf(SecretsKeyError);
    return (error as Error).message;
  }
  throw new Error('It was not refused.');
}

describe('a key file that is made', () => {
  test('holds 32 random bytes for its owner only, and leaves nothing beside it', () => {
    const made = makeSecretsKey(path);
    expect([made.length, statSync(path).mode & 0o777, readdirSync(directory)]).toEqual([
      32,
      0o600,
      ['secrets.key'],
    ]);
    expect(made).toEqual(readSecretsKey(path));
    expect(makeSecretsKey(join(directory, 'other.key'))).not.toEqual(made);
  });

  test('brings its directory along', () => {
    const deep = join(directory, 'some/where/secrets.key');
    expect(makeSecretsKey(deep)).toHaveLength(32);
    expect(statSync(join(directory, 'some')).mode & 0o777).toBe(0o700);
  });

  test('is kept as it is when it is there', () => {
    const made = makeSecretsKey(path);
    const { ino, mtimeMs } = statSync(path);
    expect(makeSecretsKey(path)).toEqual(made);
    expect(statSync(path)).toMatchObject({ ino, mtimeMs });
  });

  test('does not take the place of what is no key', () => {
    write('something else');
    expect(refusalOf(() => makeSecretsKey(path))).toMatch(/no key of 32 bytes/);
    expect(statSync(path).size).toBe(14);
  });

  test('says where it cannot be written', () => {
    write('a file where a directory should be');
    const below = join(path, 'secrets.key');
    expect(refusalOf(() => makeSecretsKey(below))).toMatch(/cannot be written: /);
    expect(existsSync(below)).toBe(false);
  });
});

describe('a key file that is read', () => {
  test.each([0o600, 0o400, 0o640, 0o440])('may have the mode %o', (mode) => {
    write(Buffer.alloc(32, 7), mode);
    expect(readSecretsKey(path)).toEqual(Buffer.alloc(32, 7));
  });

  test.each([0o644, 0o604, 0o602, 0o660, 0o666, 0o777])('is refused with the mode %o', (mode) => {
    write(Buffer.alloc(32, 7), mode);
    expect(refusalOf(() => readSecretsKey(path))).toBe(
      `The key file ${path} is open to other users of this machine. Let only its owner use it: chmod 600 ${path}`,
    );
  });

  test.each([0, 1, 31, 33, 64, 100_000])('is refused with %d bytes', (length) => {
    write(Buffer.alloc(length, 7));
    expect(refusalOf(() => readSecretsKey(path))).toMatch(/is no key of 32 bytes/);
  });

  test('may be a link to one, as secrets are mounted', () => {
    write(Buffer.alloc(32, 7));
    const link = join(directory, 'link.key');
    symlinkSync(path, link);
    expect(readSecretsKey(link)).toEqual(Buffer.alloc(32, 7));
  });

  test('is missed in a sentence that says how it comes about', () => {
    expect(refusalOf(() => readSecretsKey(path))).toBe(
      `There is no key file at ${path}. \`integration init\` makes it; one that is lost must come from its copy: set SECRETS_KEY_FILE to where that is.`,
    );
  });

  test('is no directory', () => {
    expect(refusalOf(() => readSecretsKey(directory))).toMatch(/^The (key )?file .*(no key|cannot be read)/);
  });
});
