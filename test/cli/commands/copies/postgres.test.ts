import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { databaseUnderTest } from '../../../support/databases.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { describeWith } from '../../../support/toolchains.js';
import { integration, sharedIntegration } from '../../typed.js';
import { type MatchingServer, startMatchingServer } from './matching-server.js';
import { newLive, settingsIn, succeeded } from './rig.js';

const directory = temporaryDirectories();

const AHEAD = 'const { now } = Date; Date.now = () => now() + 3_600_000;';
const AN_HOUR_AHEAD = `--import=data:text/javascript,${encodeURIComponent(AHEAD)}`;

async function administer(connectionString: string, statements: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(statements);
  } finally {
    await client.end();
  }
}

describe('integration backup of PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('says what to install where pg_dump is missing, and leaves nothing', async () => {
    const { databaseUrl } = await under.newEmptyPlace();
    const folder = directory();
    const settings = await newLive(folder, databaseUrl);
    const target = join(folder, 'backup');
    const { code, stdout, stderr } = await integration(['backup', target], { ...settings, PATH: folder });
    expect([code, stdout]).toEqual([78, '']);
    expect(stderr).toBe(
      "pg_dump is not on the PATH. Install the PostgreSQL client programs (postgresql-client) of the server's release.\n",
    );
    expect(readdirSync(folder).filter((name) => name.startsWith('backup'))).toEqual([]);
  });
});

describeWith('postgres', 'a backup of PostgreSQL', () => {
  let server: MatchingServer;

  beforeAll(async () => {
    server = await startMatchingServer();
  });
  afterAll(() => server.stop());

  test('is restored into an empty database, and into no other; no service starts on half a restore', async () => {
    const folder = directory();
    const sourceUrl = await server.newDatabase('source');
    const source = { ...(await newLive(folder, sourceUrl)), PATH: server.path };
    const backup = join(folder, 'backup');
    const passphrase = join(folder, 'passphrase');
    writeFileSync(passphrase, 'correct horse battery staple\n', { mode: 0o600 });
    const withKey = ['--with-key', '--passphrase-file', passphrase];
    const serving = new pg.Client({ connectionString: sourceUrl });
    await serving.connect();
    // Counts of calls are not copied.
    await serving.query(`insert into call_counts values ('someone', 0, 60000, 7)`);
    let isTaken = false;
    const backingUp = succeeded(integration(['backup', backup, ...withKey], source)).finally(() => {
      isTaken = true;
    });
    for (let write = 1; !isTaken; write += 1) {
      await serving.query('insert into attempt_counts (subject, count, ends_at) values ($1, 1, 0)', [write]);
    }
    await serving.end();
    await backingUp;
    expect(readdirSync(backup).sort()).toEqual([
      ...['SHA256SUMS', 'integration.dump', 'manifest.json', 'secrets.key.sealed', 'valid.jsonl'],
    ]);

    const DATABASE_URL = await server.newDatabase('target');
    const target = { ...source, DATABASE_URL };
    await administer(DATABASE_URL, 'create table restore_under_way (since bigint)');
    const started = await integration(['init'], target);
    expect([started.code, started.stderr]).toEqual([
      78,
      expect.stringContaining('A restore into this database is not complete.'),
    ]);
    const report = JSON.parse(await succeeded(integration(['restore', backup, '--json'], target)));
    expect(report.suspended).toMatchObject([{ kind: 'service_token', label: 'First operator' }]);
    await succeeded(integration(['resume', report.suspended[0].id], target));

    // Before it would ask for the passphrase of the key, which is not there.
    const withoutKey = { ...target, SECRETS_KEY_FILE: join(folder, 'none') };
    const again = await sharedIntegration(['restore', backup], withoutKey);
    expect([again.code, again.stderr]).toEqual([
      78,
      expect.stringMatching(/^The database of DATABASE_URL is not empty: it contains the table \w+\./),
    ]);
    const sqlite = await sharedIntegration(['restore', backup], {
      ...settingsIn(folder),
      DATA_DIR: join(folder, 'sqlite'),
    });
    expect([sqlite.code, existsSync(join(folder, 'sqlite'))]).toEqual([78, false]);
  });

  test('is restored by the role of the database, without the objects that only a superuser may make', async () => {
    const folder = directory();
    const sourceUrl = await server.newDatabase('extended');
    const source = { ...(await newLive(folder, sourceUrl)), PATH: server.path };
    const ofSuperusers = `
      create extension pg_stat_statements;
      create publication everything for all tables;
      comment on publication everything is 'for a warehouse';
      create publication instances for table instances;
      create subscription none connection '' publication none with (connect = false);
      create function watch() returns event_trigger language plpgsql as $$ begin end $$;
      create event trigger watched on ddl_command_end execute function watch();
    `;
    await administer(sourceUrl, ofSuperusers);
    await administer(sourceUrl, `create tablespace fast location '${server.newFolder('fast')}'`);
    await administer(sourceUrl, 'alter table audit_events set tablespace fast');
    const backup = join(folder, 'backup');
    await succeeded(sharedIntegration(['backup', backup], source));
    await administer(sourceUrl, 'alter table audit_events set tablespace pg_default');
    await administer(sourceUrl, 'drop tablespace fast');

    const target = new URL(await server.newDatabase('own'));
    const role = 'create role restorer login; alter database own owner to restorer';
    await administer(target.href, `create extension pg_stat_statements; ${role}`);
    const DATABASE_URL = Object.assign(target, { username: 'restorer' }).href;
    const report = JSON.parse(
      await succeeded(sharedIntegration(['restore', backup, '--json'], { ...source, DATABASE_URL })),
    );
    expect(report.suspended).toMatchObject([{ kind: 'service_token' }]);
  });

  test('keeps the key file that it made if the last step of its restore fails, which the server may have done', async () => {
    const folder = directory();
    const source = { ...(await newLive(folder, await server.newDatabase('whole'))), PATH: server.path };
    const backup = join(folder, 'backup');
    const passphrase = join(folder, 'passphrase');
    writeFileSync(passphrase, 'correct horse battery staple\n', { mode: 0o600 });
    const withPassphrase = ['--passphrase-file', passphrase];
    await succeeded(sharedIntegration(['backup', backup, '--with-key', ...withPassphrase], source));
    const DATABASE_URL = await server.newDatabase('unended');
    const losing = `
      create function lose() returns event_trigger language plpgsql as $$ begin raise 'the connection is lost'; end $$;
      create event trigger lost on ddl_command_end when tag in ('DROP TABLE') execute function lose();
    `;
    await administer(DATABASE_URL, losing);
    const SECRETS_KEY_FILE = join(folder, 'restored.key');
    const { code } = await integration(['restore', backup, ...withPassphrase], {
      ...{ ...source, DATABASE_URL, SECRETS_KEY_FILE },
    });
    expect([code, existsSync(SECRETS_KEY_FILE)]).toEqual([1, true]);
  });

  test('suspends keys by the clock of PostgreSQL, which the service uses, also where the own one is ahead', async () => {
    const folder = directory();
    const source = { ...(await newLive(folder, await server.newDatabase('timely'))), PATH: server.path };
    const backup = join(folder, 'backup');
    await succeeded(sharedIntegration(['backup', backup], source));
    const DATABASE_URL = await server.newDatabase('ahead');
    const target = { ...source, DATABASE_URL };
    await succeeded(integration(['restore', backup], { ...target, NODE_OPTIONS: AN_HOUR_AHEAD }));

    const client = new pg.Client({ connectionString: DATABASE_URL });
    await client.connect();
    const { rows } = await client.query(`
      select label, expires_at <= extract(epoch from clock_timestamp()) * 1000 as "hasExpired" from service_tokens
    `);
    await client.end();
    expect(rows).toEqual([{ label: 'First operator', hasExpired: true }]);
  });

  test('that pg_dump cannot end is none, and its reason is told without the password', async () => {
    const folder = directory();
    const settings = await newLive(folder, await server.newDatabase('refused'));
    const bin = join(folder, 'bin');
    writeFileSync(join(folder, 'pg_dump'), '#!/bin/sh\necho "out of luck: $*" >&2\nexit 3\n', {
      mode: 0o755,
    });
    const DATABASE_URL = (settings.DATABASE_URL as string).replace('postgres@', 'postgres:hush-hush@');
    const { code, stderr } = await sharedIntegration(['backup', bin], {
      ...{ ...settings, DATABASE_URL },
      PATH: `${folder}:${process.env.PATH}`,
    });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^pg_dump failed with exit code 3: out of luck: --format=custom /),
    ]);
    expect(stderr).not.toContain('hush-hush');
    expect(existsSync(bin)).toBe(false);
  });
});
