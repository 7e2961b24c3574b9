import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import { databaseUnderTest } from '../../support/databases.js';
import { listenOnLoopback } from '../../support/loopback.js';
import { serviceProcesses } from '../../support/service-process.js';
import { integration, runningCommands, sharedIntegration, type Typed } from '../typed.js';

const services = serviceProcesses();
const running = runningCommands();
const postgres = databaseUnderTest('PostgreSQL');
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('integration init', () => {
  test('makes directory, key file and database for their owner only, and a token that works', async () => {
    const dataDir = join(services.newDirectory(), 'live');
    const made = await integration(['init', '--json'], { DATA_DIR: dataDir });
    expect([made.code, made.stderr]).toEqual([0, '']);
    const { operatorToken, secretsKeyFile } = JSON.parse(made.stdout);
    expect(operatorToken).toMatch(/^operator_live_\w{48}$/);
    expect(secretsKeyFile).toBe(`${dataDir}.keys/secrets.key`);
    const modes = [dataDir, dirname(secretsKeyFile), secretsKeyFile].map(modeOf);
    expect(modes).toEqual([0o700, 0o700, 0o600]);

    const domain = await services.start({
      command: 'domain',
      dataDir,
      env: { ENVIRONMENT: 'live' },
    });
    const { GRPC_PORT = '' } = domain.settings;
    const settings = { DATA_DIR: dataDir, GRPC_PORT, INTEGRATION_TOKEN: operatorToken };
    const listed = await sharedIntegration(
      ['audit', 'list', '--type', 'service_token.*', '--json'],
      settings,
    );
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { type: 'service_token.created', actor: { type: 'command', id: 'init' } },
    ]);
  });

  test('prints steps that keep the token out of lists of processes, and that work as they are typed', async () => {
    const { stdout } = await sharedIntegration(['init'], { DATA_DIR: join(services.newDirectory(), 'live') });
    const [token = ''] = /operator_live_\w{48}/.exec(stdout) ?? [];
    expect(stdout).not.toContain('--token');
    expect(stdout).toContain('systemctl enable --now integration-service@serve\n');
    const [save, use] = ['\\(umask', 'export'].map((word) => new RegExp(`${word} .*`).exec(stdout)?.[0]);
    const script = `echo ${token} | ${save}\n${use}\nls -l "$INTEGRATION_TOKEN_FILE"; cat "$INTEGRATION_TOKEN_FILE"`;
    const env = { ...process.env, HOME: services.newDirectory() };
    const shown = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' });
    expect(shown).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/^-rw-------/) });
    expect(shown.stdout).toContain(`\n${token}`);
  });

  test('whose operator tokens have all ended issues another, and the audit log stays intact', async () => {
    const dataDir = join(services.newDirectory(), 'live');
    await sharedIntegration(['init'], { DATA_DIR: dataDir });
    const served = await services.start({ command: 'domain', dataDir, env: { ENVIRONMENT: 'live' } });
    await served.stop();
    const database = new Sqlite(join(dataDir, 'integration.db'));
    database.exec('update service_tokens set revoked_at = created_at');
    database.close();

    const again = await sharedIntegration(['init', '--json'], { DATA_DIR: dataDir });
    expect([again.code, again.stderr]).toEqual([0, '']);
    const { settings } = await services.start({ command: 'domain', dataDir, env: { ENVIRONMENT: 'live' } });
    const { GRPC_PORT = '' } = settings;
    const type = (token: string, ...args: string[]) =>
      sharedIntegration(args, { DATA_DIR: dataDir, GRPC_PORT, INTEGRATION_TOKEN: token });
    const { operatorToken } = JSON.parse(again.stdout);
    const auditor = ['token', 'create', '--role', 'auditor', '--label', 'Auditor', '--json'];
    const { token } = JSON.parse((await type(operatorToken, ...auditor)).stdout);
    expect(await type(token, 'audit', 'verify')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^The audit log is intact\./),
    });
  });

  test('makes no other key file for an environment that has lost its own', async () => {
    const dataDir = join(services.newDirectory(), 'live');
    await sharedIntegration(['init'], { DATA_DIR: dataDir });
    await (await services.start({ command: 'domain', dataDir, env: { ENVIRONMENT: 'live' } })).stop();
    const database = new Sqlite(join(dataDir, 'integration.db'));
    database.exec('update service_tokens set revoked_at = created_at');
    database.close();
    const keyFile = `${dataDir}.keys/secrets.key`;
    rmSync(keyFile);
    const again = await integration(['init'], { DATA_DIR: dataDir });
    expect([again.code, again.stderr]).toEqual([78, expect.stringMatching(/^There is no key file at /)]);
    expect(existsSync(keyFile)).toBe(false);
  });

  test('makes the environment also while Temporal is away, and says how to set that up later', async () => {
    const dataDir = join(services.newDirectory(), 'live');
    const settings = { DATA_DIR: dataDir, TEMPORAL_ADDRESS: '127.0.0.1:9' };
    const made = await integration(['init'], settings);
    expect(made.code).toBe(0);
    expect(made.stderr).toMatch(
      /^Temporal at 127\.0\.0\.1:9 was not set up: .*; repeat this part with: integration init --temporal\n$/,
    );
    const again = await integration(['init', '--temporal'], settings);
    expect([again.code, again.stdout]).toEqual([78, '']);
    expect(again.stderr).toMatch(/^Temporal at 127\.0\.0\.1:9 was not set up: /);
  });

  test('that is ended while it waits for Temporal has printed the only copy of the token', async () => {
    const silent = createServer();
    try {
      const port = await listenOnLoopback(silent);
      const settings = {
        DATA_DIR: join(services.newDirectory(), 'live'),
        TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
      };
      const connected = once(silent, 'connection');
      const command = running(['init', '--json'], settings);
      const [socket] = (await connected) as [Socket];
      expect(await command.interrupt()).toBeNull();
      socket.destroy();
      expect(command.output.text()).toMatch(/"operatorToken": "operator_live_\w{48}"/);
    } finally {
      silent.close();
    }
  });

  test('says that there is no Temporal to set up', async () => {
    const { code, stderr } = await sharedIntegration(['init', '--temporal'], {
      DATA_DIR: services.newDirectory(),
    });
    expect([code, stderr]).toEqual([78, 'TEMPORAL_ADDRESS is not set: there is no Temporal to set up.\n']);
  });

  test('whose token was lost before its first use revokes it on request, and makes another one with the same key', async () => {
    const dataDir = join(services.newDirectory(), 'live');
    const first = await sharedIntegration(['init', '--json'], { DATA_DIR: dataDir });
    const refused = await sharedIntegration(['init'], { DATA_DIR: dataDir });
    expect([refused.code, refused.stderr]).toEqual([
      78,
      'The environment exists already: There already is a working operator token. If you lost this token before its first use, run: integration init --replace-unused\n',
    ]);
    const again = await sharedIntegration(['init', '--json', '--replace-unused'], { DATA_DIR: dataDir });
    expect(again.stderr).toMatch(
      /^The operator token tok_\w+, which was never used, is revoked: the new one replaces it\.\n$/,
    );
    const { settings } = await services.start({ command: 'domain', dataDir, env: { ENVIRONMENT: 'live' } });
    const type = ({ stdout }: Typed, ...args: string[]) => {
      const { operatorToken } = JSON.parse(stdout);
      const { GRPC_PORT = '' } = settings;
      return sharedIntegration(args, { DATA_DIR: dataDir, GRPC_PORT, INTEGRATION_TOKEN: operatorToken });
    };
    const audit = ['audit', 'list', '--type', 'service_token.*', '--json'];
    const records: { type: string; actor: object }[] = JSON.parse((await type(again, ...audit)).stdout);
    const kinds = ['created', 'created', 'revoked'].map((what) => `service_token.${what}`);
    expect(records.map((record) => record.type).sort()).toEqual(kinds);
    expect(records).toMatchObject(kinds.map(() => ({ actor: { type: 'command', id: 'init' } })));
    expect(await type(first, ...audit)).toMatchObject({ code: 1, stdout: '' });
  });

  test('whose key file was lost with the token makes another one, because nothing is encrypted yet', async () => {
    const dataDir = join(services.newDirectory(), 'live');
    await sharedIntegration(['init'], { DATA_DIR: dataDir });
    const keyFile = `${dataDir}.keys/secrets.key`;
    rmSync(keyFile);
    const again = await sharedIntegration(['init', '--replace-unused'], { DATA_DIR: dataDir });
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringContaining(`${keyFile} is new. A key file `),
    ]);
    expect(existsSync(keyFile)).toBe(true);
  });

  test('is refused once its token has been used, and changes nothing', async () => {
    const dataDir = join(services.newDirectory(), 'live');
    await sharedIntegration(['init'], { DATA_DIR: dataDir });
    const database = new Sqlite(join(dataDir, 'integration.db'));
    database.exec('update service_tokens set last_used_at = created_at');
    database.close();
    const keyFile = `${dataDir}.keys/secrets.key`;
    const { ino, mtimeMs } = statSync(keyFile);
    const again = await sharedIntegration(['init', '--replace-unused'], { DATA_DIR: dataDir });
    expect([again.code, again.stdout]).toEqual([78, '']);
    expect(again.stderr).toMatch(/^The environment exists already: The working operator token has been used/);
    expect(statSync(keyFile)).toMatchObject({ ino, mtimeMs });

    rmSync(keyFile);
    expect((await sharedIntegration(['init'], { DATA_DIR: dataDir })).code).toBe(78);
    expect(existsSync(keyFile)).toBe(false);
  });

  test('continues where an attempt of an earlier version was cut short, with its key, and says how to move that', async () => {
    const dataDir = services.newDirectory();
    const keyFile = join(dataDir, 'secrets.key');
    writeFileSync(keyFile, Buffer.alloc(32, 7), { mode: 0o600 });
    const { ino } = statSync(keyFile);
    const made = await sharedIntegration(['init'], { DATA_DIR: dataDir });
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining(keyFile)]);
    expect(made.stderr).toMatch(
      /^The key file is in the data directory, .* Move it: mkdir -m 700 '.*' && mv '.*' '.*'/,
    );
    expect(statSync(keyFile).ino).toBe(ino);
  });

  test('takes no key that other users of the machine can read', async () => {
    const dataDir = services.newDirectory();
    writeFileSync(join(dataDir, 'secrets.key'), Buffer.alloc(32, 7), { mode: 0o644 });
    const refused = await sharedIntegration(['init'], { DATA_DIR: dataDir });
    expect([refused.code, refused.stderr]).toEqual([78, expect.stringMatching(/chmod 600 /)]);
  });

  test('refuses a key file that is none, and can be repeated once that file is removed', async () => {
    const dataDir = services.newDirectory();
    const keyFile = join(dataDir, 'secrets.key');
    writeFileSync(keyFile, 'something else');
    const refused = await sharedIntegration(['init'], { DATA_DIR: dataDir });
    expect([refused.code, refused.stderr]).toEqual([
      78,
      expect.stringMatching(/neither a key of 32 bytes nor a list/),
    ]);
    rmSync(keyFile);
    expect((await sharedIntegration(['init'], { DATA_DIR: dataDir })).code).toBe(0);
  });

  test('says what the database refuses, not that the environment is made', async () => {
    const { dataDir, databaseUrl } = await postgres.newPlace();
    const other = new pg.Client({ connectionString: databaseUrl });
    await other.connect();
    try {
      await other.query('begin; lock table service_tokens');
      const refused = await integration(['init'], { DATA_DIR: dataDir, DATABASE_URL: databaseUrl as string });
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringMatching(/^The database refuses this: .*lock timeout.*\n$/),
      ]);
    } finally {
      await other.end();
    }
  });

  test('is not for the demo', async () => {
    const { code, stderr } = await sharedIntegration(['init'], {
      ENVIRONMENT: 'demo',
      DATA_DIR: services.newDirectory(),
    });
    expect([code, stderr]).toEqual([78, expect.stringMatching(/start it with `make run`/)]);
  });
});
