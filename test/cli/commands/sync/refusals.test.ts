import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Sqlite } from '../../../../src/store/better-sqlite3.js';
import { demoEnvironment } from '../../../flow/sign-on/demo-environment.js';
import { freePorts } from '../../../support/free-ports.js';
import { integration, sharedIntegration } from '../../typed.js';
import { atDemo, newFiles } from './rig.js';

const environment = demoEnvironment();
const newFile = newFiles();
const sync = (file: string, settings: Record<string, string> = {}, ...more: string[]) =>
  sharedIntegration(['sync', '--to', file, '--once', ...more], {
    ...atDemo(environment.demo.service),
    ...settings,
  });
const withKey = (apiKey: string) => ({
  INTEGRATION_API_KEY: apiKey,
  INTEGRATION_GATEWAY: environment.demo.service.gatewayUrl,
});
const juniperKey = () => environment.demo.service.demo().apiKeys[1]?.key ?? '';
const unknownKey = () => `${environment.demo.service.demo().apiKeys[0]?.key.slice(0, -12)}000000000000`;
const database = (file: string, sql: string) => {
  const made = new Sqlite(file);
  made.exec(sql);
  made.close();
};
const PAGE_BYTES = 4_096;
const isRoot = process.getuid?.() === 0;

describe('integration sync refuses', () => {
  test('an unknown key, which it never prints, and makes no file', async () => {
    const file = newFile();
    const args = ['sync', '--to', file, '--once'];
    const { code, stdout, stderr } = await integration(args, withKey(unknownKey()));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^http:\/\/\S+ refuses: .+ \(401 api_key_\w+, request \S+\)\n$/);
    expect(stderr).not.toContain('ik_demo_');
    expect(existsSync(file)).toBe(false);
  });

  test('a key with a space in it', async () => {
    const { code, stderr } = await sync(newFile(), withKey('ik_demo_ 1'));
    expect([code, stderr]).toEqual([2, expect.stringContaining('must be the API key')]);
  });

  test('a file of keys that is not there', async () => {
    const { code, stderr } = await sync(newFile(), { INTEGRATION_API_KEY_FILE: '/not/here' });
    expect([code, stderr]).toEqual([2, 'INTEGRATION_API_KEY_FILE names a file that does not exist.\n']);
  });

  test('the copy of another instance integration, and leaves it as it is', async () => {
    const file = newFile();
    await sync(file);
    const before = readFileSync(file);
    const { code, stderr } = await sync(file, withKey(juniperKey()));
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^\S+copy\.sqlite is a copy of another instance integration\. Give its own with .+\n$/,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('an instance integration that the key does not have, and lists those that it has', async () => {
    const { code, stderr } = await sync(newFile(), {}, '--instance-integration', 'iin_x');
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^This key has no instance integration iin_x\. It has:(\n {2}iin_\w{22} {2}\w.+)+\n$/,
    );
  });

  test('to choose between several', async () => {
    const key = environment.demo.service.demo().apiKeys[0]?.key ?? '';
    const { code, stderr } = await sync(newFile(), withKey(key));
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^This key has several .+ Choose one with --instance-integration:\n/),
    ]);
  });

  test.each([
    ['a text', (file: string) => writeFileSync(file, 'Something that took an afternoon to write.')],
    ['a database of another program', (file: string) => database(file, 'create table notes (text)')],
    ['a table that only has the name', (file: string) => database(file, 'create table entities (text)')],
  ])('%s, and leaves it as it is', async (_, make) => {
    const file = newFile();
    make(file);
    const before = readFileSync(file);
    const { code, stderr } = await sync(file);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/copy\.sqlite is .*not a copy of an instance/)]);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('a file in a folder that is not there', async () => {
    const { code, stderr } = await sync(join(newFile(), 'copy.sqlite'));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^There is no folder \S+copy\.sqlite\.\n$/)]);
  });

  test.each([
    ['a file', (file: string) => writeFileSync(file, '')],
    [
      'a link to a file',
      (file: string) => {
        writeFileSync(`${file}.there`, '');
        symlinkSync(`${file}.there`, file);
      },
    ],
  ])('%s that other users can read, until it is closed to them', async (_, make) => {
    const file = newFile();
    make(file);
    chmodSync(file, 0o644);
    const { code, stderr } = await sync(file);
    const said = `${file} is open to other users. Close it to them: chmod 600 ${file}\n`;
    expect([code, stderr]).toEqual([2, said]);
    expect(statSync(file).size).toBe(0);
    chmodSync(file, 0o600);
    expect((await sync(file)).code).toBe(0);
  });

  // Only root can give a file away.
  (isRoot ? test : test.skip)('a file of another user', async () => {
    const file = newFile();
    writeFileSync(file, '', { mode: 0o600 });
    chownSync(file, 1000, 1000);
    const { code, stderr } = await sync(file);
    expect([code, stderr]).toEqual([2, expect.stringContaining('belongs to another user')]);
    expect(statSync(file).size).toBe(0);
  });

  test('a link to a file that is not there, and makes none', async () => {
    const file = newFile();
    symlinkSync(`${file}.there`, file);
    const { code, stderr } = await sync(file);
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be opened')]);
    expect(existsSync(`${file}.there`)).toBe(false);
  });

  test('a damaged copy, and says how to get another', async () => {
    const file = newFile();
    await sync(file);
    const content = readFileSync(file);
    writeFileSync(file, content.fill(0xff, PAGE_BYTES));
    const { code, stderr } = await sync(file);
    const said = /\(SQLITE_CORRUPT\w*\)\. Delete the file; the command loads everything again\.\n$/;
    expect([code, stderr]).toEqual([1, expect.stringMatching(said)]);
    rmSync(file);
    expect((await sync(file)).code).toBe(0);
  });

  test.each([
    ['a key without its gateway', { INTEGRATION_API_KEY: 'ik_live_1' }, 'without its gateway'],
    ['a gateway without a key', { INTEGRATION_GATEWAY: 'https://gateway.example.com' }, 'without an API key'],
    [
      'to send the key unencrypted to another machine',
      { INTEGRATION_API_KEY: 'ik_live_1', INTEGRATION_GATEWAY: 'http://gateway.example.com' },
      'would send the API key unencrypted. Use https://.',
    ],
  ])('%s', async (_, settings, words) => {
    const file = newFile();
    const { code, stderr } = await sync(file, settings);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect(existsSync(file)).toBe(false);
  });

  test('a folder', async () => {
    const { code, stderr } = await sync(dirname(newFile()));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/cannot be (opened|used)/)]);
  });

  test('a file whose journal cannot be written', async () => {
    const file = newFile();
    await sync(file);
    mkdirSync(`${file}-journal`);
    const { code, stderr } = await sync(file);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/copy\.sqlite cannot be used: .+\n$/)]);
  });

  // The permissions of files do not bind root.
  (isRoot ? test.skip : test)('a file and a folder that are read-only', async () => {
    const file = newFile();
    await sync(file);
    chmodSync(file, 0o400);
    expect(await sync(file)).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be used') });
    chmodSync(dirname(file), 0o500);
    const other = join(dirname(file), 'other.sqlite');
    expect(await sync(other)).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be opened') });
    chmodSync(dirname(file), 0o700);
    expect(statSync(file).size).toBeGreaterThan(0);
  });

  test('a file that another program has locked', async () => {
    const file = newFile();
    await sync(file);
    const held = new Sqlite(file);
    held.exec('begin exclusive');
    const { code, stderr } = await sync(file);
    held.close();
    expect([code, stderr]).toEqual([1, expect.stringContaining('is locked by another program')]);
  });

  test('an address where nothing answers', async () => {
    const [port] = await freePorts(1);
    const nowhere = { ...withKey(unknownKey()), INTEGRATION_GATEWAY: `http://127.0.0.1:${port}` };
    const { code, stderr } = await sync(newFile(), nowhere);
    expect([code, stderr]).toEqual([1, `The connection to 127.0.0.1:${port} failed: ECONNREFUSED.\n`]);
  });

  test.each([
    ['no file', ['sync'], "required option '--to <file>'"],
    ['a database in memory', ['sync', '--to', ':memory:'], 'It must be a file.'],
    ['a file without a name', ['sync', '--to', ' '], 'It must be a file.'],
    ['an address that is none', ['sync', '--to', 'x', '--gateway', 'localhost'], 'It must be an address'],
    ['no demo', ['sync', '--to', 'x'], 'give --gateway and the API key in INTEGRATION_API_KEY'],
  ])('%s', async (_, args, words) => {
    const { code, stderr } = await sharedIntegration(args);
    expect([code, stderr.replaceAll('\n', ' ')]).toEqual([2, expect.stringContaining(words)]);
  });
});
