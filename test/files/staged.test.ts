import { once } from 'node:events';
import fs, {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { makeFolder } from '../../src/files/folders.js';
import { isStaged, removeLeft, stage, unstage, writeWhole } from '../../src/files/staged.js';
import { startScript } from '../support/run-script.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

const TWO_DAYS_S = 2 * 86_400;

const directory = temporaryDirectories();

afterEach(() => {
  jest.restoreAllMocks();
  syncBuiltinESMExports();
});

/** Leaves the folder as a writer of the file did that was killed while it staged it. */
async function killedWriter(path: string, during = () => {}): Promise<string> {
  const writer = startScript('test/files/staging.child.ts', [path]);
  const ended = once(writer, 'exit');
  await once(writer.stdout, 'data');
  during();
  writer.kill('SIGKILL');
  await ended;
  const [left = '', ...others] = readdirSync(dirname(path)).filter(isStaged);
  expect(others).toEqual([]);
  return join(dirname(path), left);
}

const aged = (path: string) => {
  const then = Date.now() / 1_000 - TWO_DAYS_S;
  utimesSync(path, then, then);
};

describe('a file that is written whole', () => {
  test('is for its owner alone, takes the place of the one before, and leaves nothing beside it', () => {
    const path = join(directory(), 'it');
    writeFileSync(path, 'before', { mode: 0o644 });
    writeWhole(path, 'after');
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['after', 0o600]);
    expect(readdirSync(dirname(path))).toEqual(['it']);
  });

  test.each<[string, 'writeFileSync' | 'renameSync', string]>([
    ['on a full disk', 'writeFileSync', 'ENOSPC'],
    ['that cannot get its name', 'renameSync', 'EIO'],
  ])('%s is as before, with nothing beside it', (_, call, code) => {
    const path = join(directory(), 'it');
    writeFileSync(path, 'before');
    const write = fs.writeFileSync;
    jest.spyOn(fs, call).mockImplementationOnce((...given: unknown[]) => {
      write(given[0] as string, 'part');
      throw Object.assign(new Error(code), { code });
    });
    syncBuiltinESMExports();
    expect(() => writeWhole(path, 'after')).toThrow(code);
    expect(readFileSync(path, 'utf8')).toBe('before');
    expect(readdirSync(dirname(path))).toEqual(['it']);
  });

  test('is on the disk before it gets its name, and its name before the call returns', () => {
    const path = join(directory(), 'it');
    const calls: string[] = [];
    for (const call of ['fsyncSync', 'renameSync'] as const) {
      const real = fs[call] as (...given: unknown[]) => void;
      jest.spyOn(fs, call).mockImplementation((...given: unknown[]) => {
        calls.push(call);
        return real(...given);
      });
    }
    syncBuiltinESMExports();
    writeWhole(path, 'content');
    expect(calls).toEqual(['fsyncSync', 'renameSync', 'fsyncSync']);
  });

  test('removes files of killed writers, and not those of running ones', async () => {
    const path = join(directory(), 'it');
    const left = await killedWriter(join(dirname(path), 'other'), () => {
      writeWhole(path, 'while the other writes');
      expect(readdirSync(dirname(path)).filter(isStaged)).toHaveLength(1);
    });
    expect(readFileSync(left, 'utf8')).toBe('half a secret');
    writeWhole(path, 'after the other was killed');
    expect(readdirSync(dirname(path))).toEqual(['it']);
  });
});

describe('what is left in a folder', () => {
  const ID = new RegExp(`-${process.pid}-`);

  test('by an earlier process with the id of this one is removed, and not what this one writes', () => {
    const folder = directory();
    const present = stage(join(folder, 'present'));
    writeFileSync(present, '');
    writeFileSync(present.replace(/present(.*)-\w+$/, 'left$1-0123abcd'), '');
    removeLeft('files', folder);
    expect(readdirSync(folder).map((name) => join(folder, name))).toEqual([present]);
    unstage(present);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('on another machine, or by a process whose id another one has, is removed when it is old', () => {
    const folder = directory();
    const name = stage(join(folder, 'it'));
    const others = [name.replace(/partial-\w{8}/, 'partial-01234567'), name.replace(ID, `-${process.ppid}-`)];
    for (const other of others) {
      writeFileSync(other, '');
    }
    removeLeft('files', folder);
    expect(readdirSync(folder)).toHaveLength(2);
    others.forEach(aged);
    removeLeft('files', folder);
    expect(readdirSync(folder)).toEqual([]);
    unstage(name);
  });

  test('as a folder is old when all in it is', () => {
    const folder = directory();
    const name = stage(join(folder, 'it'));
    const other = name.replace(/partial-\w{8}/, 'partial-01234567');
    mkdirSync(other);
    writeFileSync(join(other, 'database'), '');
    aged(other);
    removeLeft('folders', folder);
    expect(readdirSync(folder)).toHaveLength(1);
    aged(join(other, 'database'));
    aged(other);
    removeLeft('files', folder);
    expect(readdirSync(folder)).toHaveLength(1);
    removeLeft('folders', folder);
    expect(readdirSync(folder)).toEqual([]);
    unstage(name);
  });

  test('is only what has the whole form of such a name; a link is removed, and not what it leads to', () => {
    const folder = directory();
    const dead = stage(join(folder, 'it')).replace(/-\w+$/, '-0123abcd');
    const others = [
      'it',
      'it.partial',
      'it.partial-0123abcd',
      `${dead}.old`,
      dead.replace('partial', 'part'),
    ];
    const names = others.map((other) => join(folder, other.replace(`${folder}/`, '')));
    for (const name of names) {
      writeFileSync(name, 'mine');
    }
    symlinkSync(join(folder, 'it'), dead);
    removeLeft('files', folder);
    expect(readdirSync(folder).sort()).toEqual(names.map((name) => name.replace(`${folder}/`, '')).sort());
  });

  test.each([
    ['cannot be listed', 'readdirSync'],
    ['cannot be changed', 'rmSync'],
  ] as const)('stays where the folder %s, without an error', (_, call) => {
    const folder = directory();
    const dead = stage(join(folder, 'it')).replace(/-\w+$/, '-0123abcd');
    writeFileSync(dead, '');
    jest.spyOn(fs, call).mockImplementation(() => {
      throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
    });
    syncBuiltinESMExports();
    removeLeft('files', folder);
    jest.restoreAllMocks();
    syncBuiltinESMExports();
    expect(readdirSync(folder).map((name) => join(folder, name))).toEqual([dead]);
  });
});

test('a folder that cannot be made is refused with the true reason, which a recursive call of Node hides', () => {
  jest.spyOn(fs, 'mkdirSync').mockImplementation((_, options) => {
    const code = typeof options === 'object' ? 'ENOENT' : 'EROFS';
    throw Object.assign(new Error(code), { code });
  });
  syncBuiltinESMExports();
  const path = join(directory(), 'some/where');
  expect(() => makeFolder(path)).toThrow('EROFS');
  expect(fs.mkdirSync).toHaveBeenLastCalledWith(dirname(path), 0o700);
});

test('folders that are made are for their owner alone, and each name is synced', () => {
  const above = directory();
  const opened: unknown[] = [];
  const open = fs.openSync;
  jest.spyOn(fs, 'openSync').mockImplementation((path, ...given) => {
    opened.push(path);
    return open(path, ...given);
  });
  syncBuiltinESMExports();
  makeFolder(join(above, 'some/where'));
  makeFolder(join(above, 'some/where'));
  expect(opened).toEqual([join(above, 'some'), above]);
  expect(['some', 'some/where'].map((each) => statSync(join(above, each)).mode & 0o777)).toEqual([
    0o700, 0o700,
  ]);
});
