import { execFile } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { packageRoot } from '../../src/config/package.js';
import { type MatchingServer, startMatchingServer } from '../cli/commands/copies/matching-server.js';
import { codeOf, type Printed } from '../operate/blocks.js';
import { testOnLinux } from '../operate/machine.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';

const run = promisify(execFile);
const newDirectory = temporaryDirectories();

const BACK_UP: Printed = ['install', 'install -d -m 700 /var/backups'];
const PUT_KEY: Printed = ['install', 'docker compose run'];
const RESTORE: Printed = ['install', 'dump=$(ls'];
const REMOVE_DAMAGED: Printed = ['install', 'docker compose exec -T postgres'];

/** Runs the programs of PostgreSQL and of the shell here, and notes the other commands. */
const DOCKER = `#!/bin/sh
case "$*" in
'compose exec -T '*) shift 4; exec "$@" ;;
'compose run --rm -T --no-deps --entrypoint sh integration '*) shift 8; exec sh "$@" ;;
*) echo "$*" >> "$0.calls" ;;
esac
`;
const KEY_FILE = 'var/lib/integration-service/live.keys/secrets.key';
const DUMPS = 'var/backups/integration-service';
const KEY_COPY = 'var/backups/integration-service-key/secrets.key';

describeWith('postgres', 'the dumps of the Compose file', () => {
  let server: MatchingServer;
  let port: string;
  /** Holds the folders of machine and containers. */
  let root: string;

  beforeAll(async () => {
    server = await startMatchingServer();
    port = new URL(await server.newDatabase('unused')).port;
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    root = newDirectory();
    for (const folder of ['bin', 'run/secrets', 'var/backups', 'var/lib/integration-service/live.keys']) {
      mkdirSync(path(folder), { recursive: true });
    }
    for (const role of ['postgres', 'service-database', 'temporal-database']) {
      writeFileSync(path(`run/secrets/${role}-password`), 'a-password');
    }
    writeFileSync(path(KEY_FILE), 'the key', { mode: 0o600 });
    writeFileSync(path('bin/docker'), DOCKER, { mode: 0o755 });
    for (const name of ['integration', 'damaged', 'restored', 'temporal', 'temporal_visibility']) {
      await shell(`dropdb --username=postgres --if-exists --force ${name}`);
    }
    await shell('dropuser --username=postgres --if-exists integration');
    await shell('dropuser --username=postgres --if-exists temporal');
    await shell(readFileSync(join(packageRoot, 'deploy/docker/databases.sh'), 'utf8'));
    await query('integration', "create table cats as select 'Tom' as name");
    await query('integration', 'alter table cats owner to integration');
  });

  const path = (name: string) => join(root, name);
  const modeOf = (name: string) => statSync(path(name)).mode & 0o777;

  async function shell(code: string): Promise<string> {
    const env = { PATH: `${path('bin')}:${server.path}`, PGHOST: '127.0.0.1', PGPORT: port };
    const here = code.replaceAll(/(?<![\w.])\/(?=(?:run|var)\/)/g, `${root}/`);
    return (await run('bash', ['--norc', '-ec', `umask 022\n${here}`], { cwd: root, env })).stdout.trim();
  }

  const query = (database: string, statement: string) =>
    shell(`psql --username=postgres --dbname=${database} --tuples-only --no-align --command="${statement}"`);
  const type = (block: Printed) => shell(codeOf(block));
  const catsIn = (database: string) => query(database, 'select name from cats');
  const dumps = () =>
    readdirSync(path(DUMPS))
      .filter((name) => name.endsWith('.dump'))
      .sort();
  const calls = () => readFileSync(path('bin/docker.calls'), 'utf8').trim().split('\n');

  testOnLinux(
    'are closed to other users, apart from the key file, and stay when a later one fails',
    async () => {
      await type(BACK_UP);
      const [dump = ''] = dumps();
      expect(dump).toMatch(/^\d{4}-\d\d-\d\dT\d{6}Z\.dump$/);
      const copies = [join(DUMPS, dump), KEY_COPY];
      expect(copies.map(modeOf)).toEqual([0o600, 0o600]);
      expect(copies.map((copy) => modeOf(join(copy, '..')))).toEqual([0o700, 0o700]);
      expect(readFileSync(path(KEY_COPY), 'utf8')).toBe('the key');
      const content = readFileSync(path(join(DUMPS, dump)));
      rmSync(path(KEY_FILE));
      await expect(type(BACK_UP)).rejects.toMatchObject({ code: 1 });
      expect(readFileSync(path(KEY_COPY), 'utf8')).toBe('the key');
      await shell('dropdb --username=postgres integration');
      const before = dumps();
      await expect(type(BACK_UP)).rejects.toMatchObject({ code: 1 });
      expect(dumps()).toEqual(before);
      expect(readFileSync(path(join(DUMPS, dump))).length).toBe(content.length);
    },
  );

  testOnLinux('go after two weeks, once there is a new one; the newest is restored', async () => {
    mkdirSync(path(DUMPS));
    for (const [name, days] of Object.entries({
      '2026-01-01T000000Z.dump': 16,
      '2026-01-13T000000Z.dump': 4,
    })) {
      writeFileSync(path(join(DUMPS, name)), 'no dump');
      const then = Date.now() / 1_000 - days * 86_400;
      utimesSync(path(join(DUMPS, name)), then, then);
    }
    await type(BACK_UP);
    expect(dumps()).toEqual(['2026-01-13T000000Z.dump', expect.stringMatching(/Z\.dump$/)]);
    await type(RESTORE);
    expect(await catsIn('integration')).toBe('Tom');
  });

  testOnLinux('bring the rows back, and the replaced database stays until it is removed', async () => {
    await type(BACK_UP);
    await query('integration', "update cats set name = 'Garfield'");
    await type(RESTORE);
    expect(calls()).toEqual([
      'compose stop integration',
      'compose run --rm integration expire-cursors',
      'compose up --detach',
    ]);
    expect([await catsIn('integration'), await catsIn('damaged')]).toEqual(['Tom', 'Garfield']);
    await expect(type(RESTORE)).rejects.toThrow('already exists');
    expect(await catsIn('integration')).toBe('Tom');
    await type(REMOVE_DAMAGED);
    await type(RESTORE);
    const owners = "select distinct pg_get_userbyid(relowner) from pg_class where relname = 'cats'";
    expect(await query('integration', owners)).toBe('integration');
  });

  testOnLinux('change nothing when they cannot be read', async () => {
    await type(BACK_UP);
    const file = path(join(DUMPS, dumps()[0] ?? ''));
    const dump = readFileSync(file);
    truncateSync(file, dump.length - 100);
    await query('integration', "update cats set name = 'Garfield'");
    await expect(type(RESTORE)).rejects.toThrow('pg_restore: error');
    expect([await catsIn('integration'), calls()]).toEqual(['Garfield', ['compose stop integration']]);
    writeFileSync(file, dump);
    await type(RESTORE);
    expect(await catsIn('integration')).toBe('Tom');
  });

  testOnLinux('on a new machine have their key file, which only the service can read', async () => {
    await type(BACK_UP);
    rmSync(path('var/lib/integration-service/live.keys'), { recursive: true });
    await type(PUT_KEY);
    expect(readFileSync(path(KEY_FILE), 'utf8')).toBe('the key');
    expect([modeOf(KEY_FILE), modeOf(join(KEY_FILE, '..'))]).toEqual([0o600, 0o700]);
    const calls = readFileSync(path('bin/docker.calls'), 'utf8');
    expect(calls).toBe('compose run --rm integration init --temporal\n');
  });
});
