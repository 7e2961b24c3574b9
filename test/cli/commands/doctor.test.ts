import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openSqlite } from '../../../src/store/dialects/sqlite.js';
import { migratedSqliteFile } from '../../support/sqlite/template.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { integration } from '../typed.js';

const directory = temporaryDirectories();

async function dataDir({ damaged }: { damaged: boolean }): Promise<string> {
  const folder = directory();
  const file = join(folder, 'integration.db');
  copyFileSync(await migratedSqliteFile(), file);
  if (damaged) {
    const database = openSqlite(file);
    const row = {
      owner_id: 'tok',
      method: '/M',
      key: 'half',
      request_hash: 'h',
      response: null,
      created_at: 1,
    };
    await database.write((writer) => writer.insertInto('idempotency_keys').values(row).execute());
    await database.close();
  }
  return folder;
}

test('doctor says of each check that all is well, and ends with 0', async () => {
  const { code, stdout, stderr } = await integration(['doctor'], {
    DATA_DIR: await dataDir({ damaged: false }),
  });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.trim().split('\n')).toHaveLength(3);
  expect(stdout).toMatch(/^(ok {7}[a-z-]+: [A-Z].*\.\n)+$/);
});

test('doctor names damage, says what to do, and ends with 1', async () => {
  const settings = { DATA_DIR: await dataDir({ damaged: true }) };
  const text = await integration(['doctor'], settings);
  expect(text.code).toBe(1);
  expect(text.stdout).toMatch(/^damaged {2}keys-without-answers: 1 /m);
  expect(text.stdout).toContain('/M half');
  expect(text.stdout).toContain('What to do: ');

  const { code, stdout } = await integration(['doctor', '--json'], settings);
  expect(code).toBe(1);
  const { sound, checks } = JSON.parse(stdout);
  expect(sound).toBe(false);
  expect(checks).toContainEqual({
    ...{ name: 'keys-without-answers', count: 1, examples: ['/M half'] },
    ...{ about: expect.any(String), remedy: expect.any(String) },
  });
});

test('doctor refuses a directory without a database in a sentence, and makes none', async () => {
  const folder = directory();
  const { code, stdout, stderr } = await integration(['doctor'], { DATA_DIR: folder });
  expect([code, stdout]).toEqual([78, '']);
  expect(stderr).toBe(`There is no database in ${folder}. Set DATA_DIR to where the service keeps it.\n`);
});
