import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { checks } from '../../../../src/cli/commands/doctor/checks.js';
import { makeSecretsKeys } from '../../../../src/keys/secrets-key.js';
import { openSqlite } from '../../../../src/store/dialects/sqlite.js';
import { mainFile } from '../../../support/service-process.js';
import { migratedSqliteFile } from '../../../support/sqlite/template.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { integration } from '../../typed.js';
import { freePortSettings } from './rig.js';

const directory = temporaryDirectories();

async function place({ damaged }: { damaged: boolean }): Promise<Record<string, string>> {
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
  const SECRETS_KEY_FILE = join(directory(), 'secrets.key');
  makeSecretsKeys(SECRETS_KEY_FILE);
  return { ...(await freePortSettings()), DATA_DIR: folder, SECRETS_KEY_FILE };
}

test('doctor finds nothing in a sound installation', async () => {
  const { stdout, stderr } = await integration(['doctor', '--json'], await place({ damaged: false }));
  expect(stderr).toBe('');
  const found: { name: string; status: string }[] = JSON.parse(stdout).checks;
  expect(found.map(({ name }) => name)).toEqual(checks.map(({ name }) => name));
  // The disk of the test machine may be almost full.
  const others = found.filter(({ name }) => name !== 'disk-space');
  expect(others.filter(({ status }) => !['ok', 'skipped'].includes(status))).toEqual([]);
});

const FULL = '/dev/full';
const testOnFull = existsSync(FULL) ? test : test.skip;

testOnFull('doctor does not call an installation sound where its report cannot be written', async () => {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { ...(await place({ damaged: false })), PATH, NODE_COMPILE_CACHE };
  const output = openSync(FULL, 'w');
  const doctor = spawn(process.execPath, [mainFile, 'doctor'], { env, stdio: ['ignore', output, 'pipe'] });
  closeSync(output);
  const [said, [code]] = await Promise.all([text(doctor.stderr as Readable), once(doctor, 'close')]);
  expect([code, said]).toEqual([1, expect.stringMatching(/^The output is not complete: ENOSPC\b.*\n$/)]);
});

test('doctor names damage, says what to do, and exits with 1', async () => {
  const settings = await place({ damaged: true });
  const text = await integration(['doctor'], settings);
  expect(text.code).toBe(1);
  expect(text.stdout).toMatch(/^error {4}keys-without-answers +Expected: Every idempotency key/m);
  expect(text.stdout).toContain('- /M half\n');
  expect(text.stdout).toContain('What to do: Such a call was written incompletely');

  const { code, stdout } = await integration(['doctor', '--json'], settings);
  expect(code).toBe(1);
  const { sound, checks: found } = JSON.parse(stdout);
  expect(sound).toBe(false);
  expect(found).toContainEqual({
    ...{ name: 'keys-without-answers', status: 'error', count: 1, examples: ['/M half'] },
    ...{ about: expect.any(String), remedy: expect.any(String) },
  });
});

test('doctor without a database makes the other checks and creates none', async () => {
  const { DATA_DIR, ...settings } = await place({ damaged: false });
  const folder = directory();
  const { code, stdout } = await integration(['doctor'], { ...settings, DATA_DIR: folder });
  expect(code).toBe(1);
  expect(stdout).toContain(`- There is no database in ${folder}.`);
  expect(stdout).toMatch(/^skipped {2}migrations .*Not checked: the database cannot be read\.$/m);
  expect(stdout).toMatch(/^ok {7}ports /m);
  expect(existsSync(join(folder, 'integration.db'))).toBe(false);
  expect(DATA_DIR).not.toBe(folder);
});

test('doctor with unusable settings exits with 78', async () => {
  const { code, stdout, stderr } = await integration(['doctor'], { GATEWAY_PORT: 'x' });
  expect([code, stdout]).toEqual([78, '']);
  expect(stderr).toContain('GATEWAY_PORT must be a port number');
});
