import { once } from 'node:events';
import { chownSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { lockFile } from '../../src/store/file-lock.js';
import { StoreError } from '../../src/store/store-error.js';
import { runScript, startScript } from '../support/run-script.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

const NOBODY = 65_534;

/** On a busy machine the rival can wait for a processor longer than a lock is waited for. */
const BUSY_MACHINE_MS = 30_000;

describe('a lock on a file', () => {
  const directory = temporaryDirectories();

  test('is refused to a second holder with its sentence until the first releases it, and leaves an empty file', () => {
    const folder = directory();
    const file = join(folder, 'keys.lock');
    const first = lockFile(file, 'The keys are in use.');
    expect(() => lockFile(file, 'The keys are in use.')).toThrow(StoreError);
    expect(() => lockFile(file, 'The keys are in use.')).toThrow(/^The keys are in use\.$/);
    first.release();
    lockFile(file, 'The keys are in use.').release();
    expect(readdirSync(folder)).toEqual(['keys.lock']);
  });

  test('is a file that only its owner can read, because every reader could lock it', () => {
    const file = join(directory(), 'keys.lock');
    const before = process.umask(0o022);
    try {
      lockFile(file, 'The keys are in use.').release();
    } finally {
      process.umask(before);
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('is given to one of two that try at once', async () => {
    const file = join(directory(), 'keys.lock');
    const rival = startScript('test/store/rival-locker.child.ts', [file]);
    try {
      await once(rival.stdout, 'data');
      lockFile(file, 'The keys are in use.', BUSY_MACHINE_MS).release();
    } finally {
      rival.kill('SIGKILL');
    }
  });

  test('that cannot be made names its file', () => {
    const file = join(directory(), 'absent', 'keys.lock');
    expect(() => lockFile(file, 'The keys are in use.')).toThrow(
      /^The lock .*\/absent\/keys\.lock cannot be made: .+\.$/,
    );
  });

  test('is not taken on a file that a process may only read', async () => {
    const folder = directory();
    const file = join(folder, 'keys.lock');
    writeFileSync(file, '', { mode: 0o400 });
    // The permissions of files do not bind root.
    const users = process.getuid?.() === 0 ? [NOBODY] : [];
    for (const user of users) {
      chownSync(folder, user, user);
      chownSync(file, user, user);
    }
    const outcome = await runScript('test/store/unprivileged-locker.child.ts', [
      folder,
      'keys.lock',
      ...users.map(String),
    ]);
    expect(outcome).toMatch(/^The lock keys\.lock cannot be made: EACCES: /);
  });
});
