import fs, {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { stage, unstage } from '../../src/files/staged.js';
import {
  assertReplaceable,
  encryptionKey,
  keyFileText,
  MAX_KEYS,
  makeSecretsKeys,
  newKey,
  placeSecretsKeys,
  readSecretsKeys,
  replaceSecretsKeys,
  SecretsKeyError,
} from '../../src/keys/secrets-key.js';
import { runScript } from '../support/run-script.js';
import { newTemporaryDirectory } from '../support/temporary-directory.js';

const NOBODY = 65_534;
const SEVENS = encryptionKey(Buffer.alloc(32, 7));

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
  test('from a backup is made where there is none, and replaces none', () => {
    expect([placeSecretsKeys(path, [SEVENS]), placeSecretsKeys(path, [newKey()])]).toEqual([true, false]);
    expect(readSecretsKeys(path)).toEqual([SEVENS]);
  });

  test.each([
    ['from a backup', () => placeSecretsKeys(path, [SEVENS])],
    ['anew', () => makeSecretsKeys(path) && replaceSecretsKeys(path, [SEVENS])],
  ])('%s leaves no copy that a killed attempt had left, and no other file out', (_, make) => {
    // The name is that of this process, which no longer writes it.
    const staged = stage(path);
    unstage(staged);
    const left = basename(staged);
    const others = [
      // A copy may be named by its time in microseconds, or by the digits of the id of its key.
      'secrets.key.1764138673123456',
      'secrets.key.f9aabf2fb7db3093',
      'secrets.key.partial-0123456789abcdef',
      `${left}.old`,
      `x${left.replace('partial', 'part')}`,
    ];
    for (const name of [left, ...others]) {
      writeFileSync(join(directory, name), keyFileText([SEVENS]));
    }
    make();
    expect(readdirSync(directory).sort()).toEqual(['secrets.key', ...others].sort());
  });

  test('holds one random key for its owner only, and leaves nothing beside it', () => {
    const made = makeSecretsKeys(path);
    expect([made.length, statSync(path).mode & 0o777, readdirSync(directory)]).toEqual([
      1,
      0o600,
      ['secrets.key'],
    ]);
    expect(made).toEqual(readSecretsKeys(path));
    expect(makeSecretsKeys(join(directory, 'other.key'))).not.toEqual(made);
  });

  test('brings its directory along', () => {
    const deep = join(directory, 'some/where/secrets.key');
    expect(makeSecretsKeys(deep)).toHaveLength(1);
    expect(statSync(join(directory, 'some')).mode & 0o777).toBe(0o700);
  });

  test('is kept as it is when it is there', () => {
    const made = makeSecretsKeys(path);
    const { ino, mtimeMs } = statSync(path);
    expect(makeSecretsKeys(path)).toEqual(made);
    expect(statSync(path)).toMatchObject({ ino, mtimeMs });
  });

  test('does not replace a file that is no key file', () => {
    write('something else');
    expect(refusalOf(() => makeSecretsKeys(path))).toMatch(/holds neither a key of 32 bytes nor a list/);
    expect(statSync(path).size).toBe(14);
  });

  test('says where it cannot be written', () => {
    write('a file where a directory should be');
    const below = join(path, 'secrets.key');
    expect(refusalOf(() => makeSecretsKeys(below))).toMatch(/cannot be written: /);
    expect(existsSync(below)).toBe(false);
  });
});

describe('a key file that is read', () => {
  test.each([0o600, 0o400, 0o640, 0o440])('may have the mode %o', (mode) => {
    write(Buffer.alloc(32, 7), mode);
    expect(readSecretsKeys(path)).toEqual([SEVENS]);
  });

  test.each([0o644, 0o604, 0o602, 0o660, 0o666, 0o777])('is refused with the mode %o', (mode) => {
    write(Buffer.alloc(32, 7), mode);
    expect(refusalOf(() => readSecretsKeys(path))).toBe(
      `The key file ${path} is open to other users of this machine. Let only its owner use it: chmod 600 ${path}`,
    );
  });

  test.each([0, 1, 31, 33, 64, 5_000, 100_000])('is refused with %d bytes', (length) => {
    write(Buffer.alloc(length, 7));
    expect(refusalOf(() => readSecretsKeys(path))).toMatch(/holds neither a key of 32 bytes nor a list/);
  });

  test('may be a link to one, as secrets are mounted', () => {
    write(Buffer.alloc(32, 7));
    const link = join(directory, 'link.key');
    symlinkSync(path, link);
    expect(readSecretsKeys(link)).toEqual([SEVENS]);
  });

  test('is missed in a sentence that says how it comes about', () => {
    expect(refusalOf(() => readSecretsKeys(path))).toBe(
      `There is no key file at ${path}. \`integration init\` makes it; one that is lost must come from its copy: set SECRETS_KEY_FILE to where that is. For the demo, set ENVIRONMENT to demo.`,
    );
  });

  test('is no directory', () => {
    expect(refusalOf(() => readSecretsKeys(directory))).toMatch(
      /^The (key )?file .*(neither a key|cannot be read)/,
    );
  });
});

describe('a key file of several keys', () => {
  const keys = [SEVENS, newKey(), newKey()];
  const text = keyFileText(keys);

  test('gives them in its order, with the ids that their fingerprints are', () => {
    write(`${text}\n# a remark\n`);
    expect(readSecretsKeys(path)).toEqual(keys);
    // Pinned: the ids stand in databases.
    expect(SEVENS.id).toBe('ek_f9aabf2fb7db3093');
  });

  test.each<[string, string]>([
    ['a key that was changed', text.replace(/.(?=\n$)/, (last) => (last === 'A' ? 'E' : 'A'))],
    ['a key under the id of another', text.replace(keys[1]?.id as string, keys[2]?.id as string)],
    ['a key cut short', text.slice(0, -3)],
    ['a line of something else', `${text}hello\n`],
  ])('is refused with %s, in a sentence without the key', (_, content) => {
    write(content);
    const message = refusalOf(() => readSecretsKeys(path));
    expect(message).toMatch(/ is damaged in line \d: .* Restore the file from its copy\.$/);
    expect(message).not.toContain(
      Buffer.from(keys[1]?.bytes as Uint8Array)
        .toString('base64url')
        .slice(0, 20),
    );
  });

  test.each<[string, string, RegExp]>([
    ['no key', keyFileText([]), /must hold 1 to 8 keys, and holds 0/],
    [
      'too many',
      keyFileText(Array.from({ length: MAX_KEYS + 1 }, newKey)),
      /must hold 1 to 8 keys, and holds 9/,
    ],
    ['one twice', keyFileText([SEVENS, SEVENS]), /names a key twice/],
    ['the header of another version', text.replace('version 1', 'version 2'), /holds neither a key/],
  ])('is refused with %s', (_, content, reason) => {
    write(content);
    expect(refusalOf(() => readSecretsKeys(path))).toMatch(reason);
  });

  test('takes the place of the file before it at once, for its owner only, and keeps a link to it', () => {
    write(Buffer.alloc(32, 7));
    const link = join(directory, 'link.key');
    symlinkSync(path, link);
    replaceSecretsKeys(link, keys);
    expect(readSecretsKeys(path)).toEqual(keys);
    expect([lstatSync(link).isSymbolicLink(), statSync(path).mode & 0o777]).toEqual([true, 0o600]);
    expect(readdirSync(directory).sort()).toEqual(['link.key', 'secrets.key']);
  });

  test('stays readable for a group that could read it', () => {
    write(text, 0o640);
    const groups = process.getuid?.() === 0 ? [NOBODY] : (process.getgroups?.() ?? []);
    const group = groups.at(-1) ?? statSync(path).gid;
    chownSync(path, statSync(path).uid, group);
    replaceSecretsKeys(path, keys);
    expect([statSync(path).gid, statSync(path).mode & 0o777]).toEqual([group, 0o640]);
  });

  const asRoot = process.getuid?.() === 0 ? test : test.skip;
  asRoot('is not given to the group of another user who put a file in its place', () => {
    write(text, 0o640);
    chownSync(path, NOBODY, NOBODY);
    replaceSecretsKeys(path, keys);
    expect(statSync(path)).toMatchObject({ uid: 0, gid: process.getgid?.() });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('is for its owner alone where that user may not give it to the group', () => {
    write(text, 0o640);
    jest.spyOn(fs, 'fchownSync').mockImplementation(() => {
      throw Object.assign(new Error('EPERM: operation not permitted, fchown'), { code: 'EPERM' });
    });
    syncBuiltinESMExports();
    try {
      replaceSecretsKeys(path, keys);
    } finally {
      jest.restoreAllMocks();
      syncBuiltinESMExports();
    }
    expect(readSecretsKeys(path)).toEqual(keys);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('of another user is not replaced by root', () => {
    write(text);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) {
      assertReplaceable(path);
      chownSync(path, NOBODY, NOBODY);
    }
    const user = jest.spyOn(process as { getuid(): number }, 'getuid').mockReturnValue(0);
    try {
      expect(refusalOf(() => assertReplaceable(path))).toMatch(
        / belongs to another user \(uid \d+\), who could not read one that root makes\. Run this command as that user\.$/,
      );
    } finally {
      user.mockRestore();
    }
  });

  test('is not replaced in a folder that is mounted read-only, in a sentence that says what to do', () => {
    write(text);
    assertReplaceable(path);
    jest.spyOn(fs, 'accessSync').mockImplementation(() => {
      throw Object.assign(new Error('EROFS: read-only file system, access'), { code: 'EROFS' });
    });
    syncBuiltinESMExports();
    try {
      expect(refusalOf(() => assertReplaceable(path))).toBe(
        `The key file ${path} cannot be replaced, because its folder ${directory} cannot be written. Change a copy: set SECRETS_KEY_FILE to the copy for this command, and then put the copy in the place of the file.`,
      );
    } finally {
      jest.restoreAllMocks();
      syncBuiltinESMExports();
    }
  });

  test('is changed in a folder that its owner may write to and not list', async () => {
    // The permissions of files do not bind root. Every user reaches the folder.
    const users = process.getuid?.() === 0 ? [NOBODY] : [];
    const open = mkdtempSync(join(tmpdir(), 'it-'));
    try {
      chmodSync(open, 0o711);
      const folder = join(open, 'keys');
      const file = join(folder, 'secrets.key');
      mkdirSync(folder);
      writeFileSync(file, text, { mode: 0o600 });
      for (const user of users) {
        chownSync(file, user, user);
        chownSync(folder, user, user);
      }
      chmodSync(folder, 0o300);
      const outcome = await runScript('test/keys/unprivileged-key-change.child.ts', [
        file,
        ...users.map(String),
      ]);
      chmodSync(folder, 0o700);
      expect(outcome).toBe('2 keys');
      expect(readdirSync(folder)).toEqual(['secrets.key']);
    } finally {
      rmSync(open, { recursive: true, force: true });
    }
  });
});
