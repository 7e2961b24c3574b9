import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { withPostgres } from '../../../store/moves/rig.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { integration, runningCommands, sharedIntegration } from '../../typed.js';
import { newLive, succeeded } from './rig.js';

const directory = temporaryDirectories();
const under = databaseUnderTest('PostgreSQL');
const running = runningCommands();

const newTarget = async () => (await under.newEmptyPlace()).databaseUrl as string;

/** An empty database of a role without other rights, as operators have it. */
async function newOwnTarget(): Promise<string> {
  const address = new URL(await newTarget());
  const role = `mover_${randomBytes(4).toString('hex')}`;
  await withPostgres(address.href, async (client) => {
    await client.query(`create role ${role} login password 'hush-hush'`);
    await client.query(`alter database ${address.pathname.slice(1)} owner to ${role}`);
  });
  return Object.assign(address, { username: role, password: 'hush-hush' }).href;
}

const databaseOf = (url: string) => new URL(url).pathname;

test('moves the database, says so without the password, and leaves one of the two usable', async () => {
  const settings = await newLive(directory());
  const { DATA_DIR = '' } = settings;
  const before = readFileSync(join(DATA_DIR, 'integration.db'));
  const url = await newOwnTarget();
  const moved = await integration(['migrate-store', '--to', url], settings);
  expect([moved.code, moved.stderr]).toEqual([
    0,
    // A slow move also says how far it is.
    expect.stringMatching(
      /^(?:Copied .* rows, in \w+\.\n)*Copied (\d+) of \1 rows\.\n(?:Compared .* rows, in \w+\.\n)*Compared \1 of \1 rows\.\n$/,
    ),
  ]);
  expect(moved.stdout).toContain('The move is complete, and every row was compared with its source.');
  expect(moved.stdout).toContain(databaseOf(url));
  expect(moved.stdout + moved.stderr).not.toContain('hush-hush');
  expect(readFileSync(join(DATA_DIR, 'integration.db')).equals(before)).toBe(true);

  const refusal =
    /^The database in .+ was moved to PostgreSQL \(postgres:\/\/.+\) on .+ UTC\. Set DATABASE_URL to it\./;
  for (const command of [['backup', join(DATA_DIR, 'backup')], ['domain'], ['resume']]) {
    const { code, stderr } = await integration(command, settings);
    expect([command, code, stderr]).toEqual([command, 78, expect.stringMatching(refusal)]);
    expect(stderr).not.toContain('hush-hush');
  }
  const onPostgres = { ...settings, DATABASE_URL: url };
  expect(await succeeded(sharedIntegration(['resume'], onPostgres))).toBe('Nothing is suspended.\n');
  const records = await withPostgres(url, async (client) => {
    const { rows } = await client.query(
      "select type, actor_id, chain is not null as chained, attributes from audit_events where type = 'database.moved'",
    );
    return rows;
  });
  expect(records).toMatchObject([{ actor_id: 'migrate-store', chained: true }]);
  expect(records[0].attributes).not.toContain('hush-hush');

  // The way back.
  rmSync(join(DATA_DIR, 'moved-to-postgresql.json'));
  expect(await succeeded(sharedIntegration(['resume'], settings))).toBe('Nothing is suspended.\n');
});

test('takes the database from DATABASE_URL, and repeats nothing that is complete', async () => {
  const DATABASE_URL = await newTarget();
  const folder = directory();
  const settings: Record<string, string> = { ...(await newLive(folder)), DATABASE_URL };
  const { stdout } = await sharedIntegration(['migrate-store', '--json'], settings);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({ from: settings.DATA_DIR, wasComplete: false, rows: { service_tokens: 1 } });
  const again = await succeeded(sharedIntegration(['migrate-store', '--json'], settings));
  expect(JSON.parse(again)).toEqual({ ...report, wasComplete: true, rows: {} });
});

test('refuses wrong usage, a key file that is missing and a server that is away, and marks nothing', async () => {
  const settings = await newLive(directory());
  const { DATA_DIR = '', SECRETS_KEY_FILE = '' } = settings;
  const without = await integration(['migrate-store'], settings);
  expect([without.code, without.stderr]).toEqual([
    2,
    'Give the PostgreSQL database with --to, DATABASE_URL or DATABASE_URL_FILE.\n',
  ]);
  const away = await integration(
    ['migrate-store', '--to', 'postgres://me:hush-hush@127.0.0.1:1/it'],
    settings,
  );
  expect([away.code, away.stderr]).toEqual([
    78,
    expect.stringMatching(/^The service cannot connect to PostgreSQL: /),
  ]);
  expect(away.stderr).not.toContain('hush-hush');
  const url = await newTarget();
  rmSync(SECRETS_KEY_FILE);
  const keyless = await sharedIntegration(['migrate-store', '--to', url], settings);
  expect([keyless.code, keyless.stderr]).toEqual([78, expect.stringContaining(SECRETS_KEY_FILE)]);
  expect(readdirSync(DATA_DIR).filter((name) => name.startsWith('moved'))).toEqual([]);
});

test('that is killed in its midst leaves SQLite usable and PostgreSQL without rows, and is repeated', async () => {
  const settings = await newLive(directory());
  const { DATA_DIR = '' } = settings;
  const url = await newTarget();
  await withPostgres(url, (client) =>
    client.query(`
      create function hang() returns event_trigger language plpgsql as $$ begin
        if to_regclass('environment') is not null and exists (select from environment) then
          perform pg_sleep(600);
        end if;
      end $$;
      create event trigger hanging on ddl_command_start when tag in ('CREATE INDEX') execute function hang();
    `),
  );
  const command = running(['migrate-store', '--to', url], settings);
  const hanging = () =>
    withPostgres(url, async (client) => {
      const { rows } = await client.query(
        "select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
      );
      return rows.length > 0;
    });
  await eventually('rows that are copied', hanging);
  command.child.kill('SIGKILL');
  await command.ended;
  expect(existsSync(join(DATA_DIR, 'moved-to-postgresql.json'))).toBe(false);
  expect(await succeeded(sharedIntegration(['resume'], settings))).toBe('Nothing is suspended.\n');
  const started = await integration(['domain'], { ...settings, DATABASE_URL: url });
  expect([started.code, started.stderr]).toEqual([
    78,
    expect.stringContaining('The move of a SQLite database into this database is not complete.'),
  ]);

  // The server notices by itself that the command is gone.
  await eventually('the end of its connection', async () => !(await hanging()));
  await withPostgres(url, (client) => client.query('drop event trigger hanging'));
  const report = JSON.parse((await integration(['migrate-store', '--to', url, '--json'], settings)).stdout);
  expect(report).toMatchObject({ wasComplete: false, rows: { service_tokens: 1 } });
});
