import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { runScript } from '../support/run-script.js';
import { migratedSqliteFile } from '../support/sqlite/template.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

const isLimitable = spawnSync('prlimit', ['--version']).status === 0;

/** `bytes` is the most that a file may have. */
async function outcomeWith(bytes: number, file: string): Promise<{ message: string; mayPass?: boolean }> {
  return JSON.parse(await runScript('test/store/full-disk.child.ts', [String(bytes), file]));
}

(isLimitable ? describe : describe.skip)('on a full disk (needs prlimit)', () => {
  const directory = temporaryDirectories();

  test('a lock on a file is taken, because it writes nothing', async () => {
    expect(await outcomeWith(0, join(directory(), 'keys.lock'))).toEqual({ message: 'done' });
  });

  test('a database that cannot be opened is refused for now, with the reason', async () => {
    const file = join(directory(), 'integration.db');
    copyFileSync(await migratedSqliteFile(), file);
    const before = readFileSync(file);

    expect(await outcomeWith(0, file)).toEqual({
      message: expect.stringMatching(/^The database .* cannot be opened: .*disk (is full|I\/O error)\.$/),
      mayPass: true,
    });
    expect(readFileSync(file)).toEqual(before);
  });

  test('a database beside which no file can be made is refused for now, with the reason', async () => {
    const file = join(directory(), 'integration.db');
    copyFileSync(await migratedSqliteFile(), file);
    expect(JSON.parse(await runScript('test/store/few-files.child.ts', [file]))).toEqual({
      message: expect.stringMatching(/^The database .* cannot be opened: EMFILE: too many open files, /),
      mayPass: true,
    });
    expect(readdirSync(dirname(file))).toEqual(['integration.db']);
  });

  test('a database beside which SQLite cannot make its log for another reason is refused for good', async () => {
    const file = join(directory(), 'integration.db');
    copyFileSync(await migratedSqliteFile(), file);
    mkdirSync(`${file}-wal`);
    expect(await outcomeWith(1_000_000, file)).toEqual({
      message: `The database ${file} cannot be opened: unable to open database file.`,
      mayPass: false,
    });
  });

  test('a migration without room is refused for now, with the reason', async () => {
    expect(await outcomeWith(300_000, join(directory(), 'integration.db'))).toEqual({
      message: expect.stringMatching(
        /^The database cannot be migrated to this version of the service: .*disk (is full|I\/O error)\.$/,
      ),
      mayPass: true,
    });
  });
});
