import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { noTransactionIsIdle } from '../../../src/store/checks/postgres-activity.js';
import { factsOf } from '../../../src/store/copies/copy-facts.js';
import { dumpPostgres, undumpPostgres } from '../../../src/store/copies/postgres-copy.js';
import {
  readValid,
  refuseOtherRelease,
  refuseToBackUpOtherRelease,
  takeCopy,
} from '../../../src/store/copies/take-copy.js';
import type { Reader } from '../../../src/store/database.js';
import { RESTORE_MARK } from '../../../src/store/migrate.js';
import { reading, recordedIn } from '../../../src/store/recorded.js';
import { CopyError, StoreError } from '../../../src/store/store-error.js';
import { databaseUnderTest } from '../../support/databases.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const directory = temporaryDirectories();
const under = databaseUnderTest('PostgreSQL');

function program(folder: string, name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

test.each([
  [
    'postgres://me:hush%2Fhush@db.example/it?options=-c%20a%3Db',
    'me@db.example/it?options=-c%20a%3Db&application_name=pg_restore',
  ],
  [
    'postgres://me:other@db.example/it?password=hush%2Fhush&options=-c%20a%3Db&sslpassword=hush-key',
    'me@db.example/it?options=-c%20a%3Db&application_name=pg_restore',
  ],
  [
    'postgres://me@db.example/it?pass%77ord=hush%2Fhush&application_name=other',
    'me@db.example/it?application_name=pg_restore',
  ],
])('the programs of PostgreSQL get no password in their arguments, of %s', async (url, shown) => {
  const folder = directory();
  program(folder, 'pg_restore', '[ "$1" = --list ] || { echo "$PGPASSWORD: $*" >&2; exit 3; }');
  const refused = undumpPostgres(url, 'dump', { PATH: folder }).catch((error: Error) =>
    error.message.replace(/--use-list=\S+ /, ''),
  );
  expect(await refused).toBe(
    `pg_restore failed with exit code 3: hush/hush: --exit-on-error --single-transaction --no-owner --no-privileges --no-tablespaces dump --no-password --dbname=postgres://${shown}`,
  );
});

test.each([
  'pg_restore: error: unsupported version (1.16) in file header',
  'ERROR:  unrecognized configuration parameter "transaction_timeout"',
])('a restore that programs of another release cannot make says which to use: %s', async (reason) => {
  const folder = directory();
  program(folder, 'pg_restore', `echo '${reason}' >&2; exit 1`);
  const refused = undumpPostgres('postgres://me@db.example/it', 'dump', { PATH: folder });
  await expect(refused).rejects.toEqual(
    new CopyError(
      `pg_restore failed with exit code 1: ${reason}. Put the PostgreSQL client programs of the server's release first on the PATH. A backup that a newer pg_dump made needs a server of the release of that pg_dump, or a newer one`,
    ),
  );
});

test.each<[string, (server: number) => string, string[]]>([
  ['of the release of its server', (server) => `echo 'pg_dump (PostgreSQL) ${server}.1 (Debian)'`, []],
  ['of another release', () => `echo 'pg_dump (PostgreSQL) 99.1 (Debian 99.1-1)'`, ['99']],
  ['of a release that it does not say', () => `echo 'pg_dump 99'; exit 1`, []],
])('a dump by a pg_dump %s is made, and a server that may refuse it is warned of', async (_, say, newer) => {
  const place = await under.newPlace();
  const { reader } = await under.open(place);
  const { rows } = await sql<{ release: number }>`
    select current_setting('server_version_num')::int / 10000 as release
  `.execute(reader);
  const [{ release = 0 } = {}] = rows;
  const folder = directory();
  const target = join(folder, 'dump');
  program(folder, 'pg_dump', `case $1 in --version) ${say(release)};; *) : > '${target}';; esac`);
  const warnings: string[] = [];
  const dumped = dumpPostgres(
    place.databaseUrl ?? '',
    target,
    { PATH: folder },
    async () => 'read',
    (message) => warnings.push(message),
  );
  expect(await dumped).toBe('read');
  expect(existsSync(target)).toBe(true);
  expect(warnings).toEqual(
    newer.map(
      (other) =>
        `WARNING: pg_dump is of PostgreSQL ${other}, but the server runs PostgreSQL ${release} and may refuse this backup. Restore it into a server of PostgreSQL ${other} or newer, or put the client programs of PostgreSQL ${release} first on the PATH and make another backup.`,
    ),
  );
});

test('a database that a restore has not settled is neither checked, copied nor listed', async () => {
  const place = await under.newPlace();
  const { patient } = await under.open(place);
  await patient.schema.createTable(RESTORE_MARK).addColumn('since', 'bigint').execute();
  const target = join(directory(), 'dump');
  const fail = (message: string) => expect(message).toBe('none');
  for (const use of [
    () => reading(place, recordedIn),
    () => readValid(place, 1),
    () => refuseOtherRelease(place),
    () => takeCopy(place, target, 1, { PATH: '' }, fail),
  ]) {
    await expect(use()).rejects.toEqual(
      new StoreError(
        'A restore into this database is not complete. If none is running, create a new database and run `integration restore` again.',
      ),
    );
  }
});

test('a database of an older release is not backed up, and the refusal names pg_dump', async () => {
  const place = await under.newPlace();
  const { patient } = await under.open(place);
  await sql`delete from kysely_migration where name > '0005-webhooks'`.execute(patient);
  await expect(refuseToBackUpOtherRelease(place)).rejects.toThrow('stop the service, run pg_dump, and copy');
});

test('what is read beside a dump is of one moment, that of the dump, while the service writes', async () => {
  const place = await under.newPlace();
  await (await under.openStore(place)).close();
  const { write } = await under.open(place);
  const folder = directory();
  const target = join(folder, 'dump');
  program(folder, 'pg_dump', `: > '${target}'`);
  const { databaseUrl = '' } = place;
  const read = async (reader: Reader) => {
    const first = await factsOf(reader, 0);
    await write((writer) =>
      writer.insertInto('required_migrations').values({ name: '0000-meanwhile' }).execute(),
    );
    return [first, await factsOf(reader, 0)];
  };
  const [before, after] = await dumpPostgres(databaseUrl, target, { PATH: folder }, read, () => undefined);
  expect(after).toEqual(before);
});

test('the transaction that waits for a dump is one that the checks say to end only if no dump runs', async () => {
  const place = await under.newPlace();
  const { reader: checking } = await under.open(place);
  const folder = directory();
  const target = join(folder, 'dump');
  program(folder, 'pg_dump', `: > '${target}'`);
  const { databaseUrl = '' } = place;
  const read = async () => {
    const { rows } = await sql<{ state: string }>`
      select state from pg_stat_activity
      where datname = current_database() and application_name = 'integration backup'
    `.execute(checking);
    const { examples: left } = await noTransactionIsIdle.find(checking, { longMs: 0 });
    const { examples: awaited } = await checking.transaction().execute(async (dumping) => {
      await sql`select set_config('application_name', 'pg_dump', true)`.execute(dumping);
      return noTransactionIsIdle.find(dumping, { longMs: 0 });
    });
    return [rows, left, awaited];
  };
  expect(await dumpPostgres(databaseUrl, target, { PATH: folder }, read, () => undefined)).toEqual([
    [{ state: 'idle in transaction' }],
    [expect.stringMatching(/^process \d+ \(integration backup\) is idle in a transaction for /)],
    [],
  ]);
});
