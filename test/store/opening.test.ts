import dns from 'node:dns';
import fs, {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import type BetterSqlite3 from 'better-sqlite3';
import { sql } from 'kysely';
import pg from 'pg';
import { stage, unstage } from '../../src/files/staged.js';
import { Sqlite } from '../../src/store/better-sqlite3.js';
import { openPostgres } from '../../src/store/dialects/postgres/postgres.js';
import { openSqlite } from '../../src/store/dialects/sqlite.js';
import { UnclosedLog } from '../../src/store/dialects/unclosed-log.js';
import { RESTORE_MARK } from '../../src/store/migrate.js';
import { migrations } from '../../src/store/migrations/index.js';
import { DATABASE_FILE, openStore } from '../../src/store/store.js';
import { StoreError } from '../../src/store/store-error.js';
import {
  databaseUnderTest,
  describeEachDatabase,
  newPostgresDatabase,
  PATIENT,
} from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { signalled } from '../support/signalled.js';
import { spoilTable } from '../support/sqlite/spoilt-table.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

type Done = (error: null, addresses: object[]) => void;

const isRoot = process.getuid?.() === 0;
const SENTENCE = /^[A-Z].{20,}\.$/s;

async function refusalOf(options: Parameters<typeof openStore>[0]): Promise<StoreError> {
  const error = await openStore({ limits: PATIENT, ...options }).then(
    (store) => store.close().then(() => new Error('It opened.')),
    (refusal: Error) => refusal,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect(error.message).toMatch(SENTENCE);
  return error as StoreError;
}

const newest = Object.keys(migrations).at(-1) as string;
/** The lock with which Kysely migrates one process at a time. */
const MIGRATION_LOCK = '3853314791062309107';

describe('a restore that begins beside a start', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('makes the start refuse the database, which it has not settled yet', async () => {
    const place = await under.newPlace();
    const restore = new pg.Client({ connectionString: place.databaseUrl });
    await restore.connect();
    try {
      await restore.query(`select pg_advisory_lock(${MIGRATION_LOCK})`);
      const refused = refusalOf({ ...place, environment: 'live' });
      await eventually('the wait for the lock', async () => {
        const { rows } = await restore.query(`
          select 1 from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())
        `);
        return rows.length > 0;
      });
      await restore.query(`create table ${RESTORE_MARK} (since bigint)`);
      await restore.query(`select pg_advisory_unlock(${MIGRATION_LOCK})`);
      expect((await refused).message).toMatch(/^A restore into this database is not complete\. /);
    } finally {
      await restore.end();
    }
  });
});

describeEachDatabase('migrations', (under) => {
  test('make a database of nothing, which then answers', async () => {
    const store = await under.openStore(await under.newEmptyPlace());
    await expect(store.ping()).resolves.toBeUndefined();
  });

  test('are all there afterwards; the store tells which are missing, and which a newer version has added', async () => {
    const place = await under.newEmptyPlace();
    const store = await under.openStore(place);
    expect(await store.schemaDrift()).toEqual({ missing: [], newer: [], required: [] });
    const database = await under.open(place);
    await sql`update kysely_migration set name = '9999-later' where name = ${newest}`.execute(
      database.patient,
    );
    expect(await store.schemaDrift()).toEqual({
      missing: [newest],
      newer: ['9999-later'],
      required: ['9999-later'],
    });
  });

  test('do nothing at the second start', async () => {
    const place = await under.newEmptyPlace();
    await (await under.openStore(place)).close();
    const database = await under.open(place);
    const before = await database.patient.introspection.getTables();

    await (await under.openStore(place)).close();
    expect(await database.patient.introspection.getTables()).toEqual(before);
  });

  test('that fail leave nothing behind, and say so in a sentence', async () => {
    const place = await under.newEmptyPlace();
    const database = await under.open(place);
    // The last table of the migration is there already, so that it fails when all the others are made.
    await sql`create table service_tokens (id text)`.execute(database.patient);

    const { message } = await refusalOf({ ...place, environment: 'demo' });
    expect(message).toContain('service_tokens');
    const tables = await database.patient.introspection.getTables();
    expect(tables.map(({ name }) => name)).toEqual(['service_tokens']);

    await sql`drop table service_tokens`.execute(database.patient);
    await expect(under.openStore(place)).resolves.toBeDefined();
  });

  test('of a store that was closed leave it closed: it answers no more', async () => {
    const store = await under.openStore(await under.newEmptyPlace());
    await store.close();
    await expect(store.ping()).rejects.toBeDefined();
    await expect(store.purge.remove('api_key', 1, 1)).rejects.toBeDefined();
  });
});

describe('a SQLite file', () => {
  const directory = temporaryDirectories();
  const under = databaseUnderTest('SQLite');

  test('is readable by its owner only, as is the directory that the service made for it', async () => {
    const dataDir = join(directory(), 'made', 'for', 'it');
    await under.openStore({ dataDir });
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    for (const suffix of ['', '-wal', '-shm']) {
      expect(statSync(join(dataDir, `integration.db${suffix}`)).mode & 0o777).toBe(0o600);
    }
  });

  test('that is opened alone is refused to others who would be alone, until it is closed', async () => {
    const dataDir = directory();
    const first = await openStore({ dataDir, environment: 'demo', alone: true });
    const { message, mayPass } = await refusalOf({ dataDir, environment: 'demo', alone: true });
    expect(message).toContain(`Another domain already runs on ${dataDir}.`);
    expect(mayPass).toBe(false);
    await first.close();
    await (await openStore({ dataDir, environment: 'demo', alone: true })).close();
  });

  test('loses what a restore left that was killed when the database had got its name', async () => {
    const { dataDir } = await under.newPlace();
    const stage = join(dataDir, 'restoring');
    await (await openStore({ dataDir, environment: 'live', alone: true })).close();
    mkdirSync(stage);
    linkSync(join(dataDir, 'integration.db'), join(stage, 'integration.db'));
    await (await openStore({ dataDir, environment: 'live' })).close();
    expect(readdirSync(dataDir)).toContain('restoring');
    await (await openStore({ dataDir, environment: 'live', alone: true })).close();
    expect(readdirSync(dataDir).sort()).toEqual(['domain.lock', 'integration.db']);
  });

  test('loses files that killed commands left in the directory', async () => {
    const { dataDir } = await under.newPlace();
    const staged = stage(join(dataDir, '.doctor'));
    unstage(staged);
    writeFileSync(staged, '');
    await (await openStore({ dataDir, environment: 'live', alone: true })).close();
    expect(readdirSync(dataDir).sort()).toEqual(['domain.lock', 'integration.db']);
  });

  (isRoot ? test.skip : test)('opens beside what such a restore left and it cannot remove', async () => {
    const { dataDir } = await under.newPlace();
    const stage = join(dataDir, 'restoring');
    await (await openStore({ dataDir, environment: 'live', alone: true })).close();
    mkdirSync(stage);
    linkSync(join(dataDir, 'integration.db'), join(stage, 'integration.db'));
    chmodSync(stage, 0);
    try {
      await (await openStore({ dataDir, environment: 'live', alone: true })).close();
      expect(readdirSync(dataDir)).toContain('restoring');
    } finally {
      chmodSync(stage, 0o700);
    }
  });

  test('that was not closed has all its rows without its log before it is used, because a failed sync may have left a hole there', async () => {
    const place = await under.newPlace();
    const store = await openStore({ ...place, environment: 'live' });
    const [cut, synced] = [directory(), directory()];
    for (const name of [DATABASE_FILE, `${DATABASE_FILE}-wal`]) {
      copyFileSync(join(place.dataDir, name), join(cut, name));
    }
    await store.close();
    const onLogKept = jest.fn();
    await under.openStore({ dataDir: cut }, 'live', { alone: true, onLogKept });
    expect(onLogKept).not.toHaveBeenCalled();
    copyFileSync(join(cut, DATABASE_FILE), join(synced, DATABASE_FILE));
    const { reader } = await under.open({ dataDir: synced });
    expect(await reader.selectFrom('environment').select('name').execute()).toEqual([{ name: 'live' }]);
    expect(await reader.selectFrom('change_lives').select('life').execute()).toHaveLength(1);
  });

  test('that was not closed begins one more life, and none in a start whose checkpoint fails', async () => {
    const place = await under.newPlace();
    const store = await openStore({ ...place, environment: 'live' });
    const cut = directory();
    for (const name of [DATABASE_FILE, `${DATABASE_FILE}-wal`]) {
      copyFileSync(join(place.dataDir, name), join(cut, name));
    }
    await store.close();
    const { pragma } = Sqlite.prototype;
    const failing = jest.spyOn(Sqlite.prototype, 'pragma').mockImplementation(function (
      this: BetterSqlite3.Database,
      ...given
    ) {
      if (given[0].startsWith('wal_checkpoint')) {
        throw Object.assign(new Error('The disk is full'), { code: 'SQLITE_FULL' });
      }
      return pragma.apply(this, given);
    });
    try {
      expect(await refusalOf({ dataDir: cut, environment: 'live', alone: true })).toMatchObject({
        ...{ message: 'The database cannot be used at the moment: The disk is full.', mayPass: true },
      });
    } finally {
      failing.mockRestore();
    }
    await under.openStore({ dataDir: cut }, 'live', { alone: true });
    const { reader } = await under.open({ dataDir: cut });
    expect(await reader.selectFrom('change_lives').select('life').execute()).toHaveLength(2);
  });

  test.each<{ title: string; readOn: (other: BetterSqlite3.Database) => void }>([
    { title: 'ends its read', readOn: () => undefined },
    {
      title: 'begins the log anew and reads that',
      readOn: (other) => {
        other.pragma('wal_checkpoint(PASSIVE)');
        other.exec('create table later (id integer); begin; select count(*) from environment');
      },
    },
  ])(
    'that was not closed has its rows without its log when a program that reads it $title',
    async ({ readOn }) => {
      const place = await under.newPlace();
      const [cut, synced] = [directory(), directory()];
      const file = join(cut, DATABASE_FILE);
      copyFileSync(join(place.dataDir, DATABASE_FILE), file);
      const other = new Sqlite(file);
      other.exec('begin; select count(*) from environment');
      const writing = openSqlite(file);
      await writing.write((writer) => sql`create table late (id integer)`.execute(writer));
      const ended = jest.spyOn(UnclosedLog.prototype, 'end');
      const said: boolean[] = [];
      const { told: isReplaced, tell } = signalled();
      const onLogKept = (isKept: boolean) => {
        said.push(isKept);
        if (!isKept) {
          tell();
        }
      };
      const open = () => under.openStore({ dataDir: cut }, 'live', { alone: true, onLogKept });
      await (await open()).close();
      expect(ended).toHaveBeenCalledTimes(1);
      await open();
      expect(said).toEqual([true, true]);
      other.exec('commit');
      readOn(other);
      await isReplaced;
      expect(said).toEqual([true, true, false]);
      ended.mockRestore();
      copyFileSync(file, join(synced, DATABASE_FILE));
      const { reader } = await under.open({ dataDir: synced });
      expect((await reader.introspection.getTables()).map(({ name }) => name)).toContain('late');
      other.close();
      await writing.close();
    },
  );

  test('leaves the mode of a directory that was there as its owner set it', async () => {
    const dataDir = directory();
    chmodSync(dataDir, 0o755);
    await under.openStore({ dataDir });
    expect(statSync(dataDir).mode & 0o777).toBe(0o755);
  });

  test('whose directory cannot be made for lack of room is refused for now', async () => {
    const failing = jest.spyOn(fs, 'mkdirSync').mockImplementation(() => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    });
    syncBuiltinESMExports();
    try {
      const dataDir = '/var/lib/full';
      expect((await refusalOf({ dataDir, environment: 'demo' })).mayPass).toBe(true);
    } finally {
      failing.mockRestore();
      syncBuiltinESMExports();
    }
  });

  test('that cannot be made is refused with the path', async () => {
    const file = join(directory(), 'a-file');
    writeFileSync(file, '');
    const { message } = await refusalOf({ dataDir: join(file, 'data'), environment: 'demo' });
    expect(message).toContain(join(file, 'data'));
  });

  test('that is a directory is refused with the path', async () => {
    const dataDir = directory();
    mkdirSync(join(dataDir, 'integration.db'));
    expect((await refusalOf({ dataDir, environment: 'demo' })).message).toContain('integration.db');
  });

  test.each<{ title: string; breakIt: (content: Buffer) => Buffer | string }>([
    { title: 'something else altogether', breakIt: () => 'This is not a database. '.repeat(100) },
    { title: 'damaged after its first bytes', breakIt: (content) => damaged(content, 100) },
    { title: 'cut off', breakIt: (content) => content.subarray(0, 5_000) },
  ])('that is $title is refused and left as it is', async ({ breakIt }) => {
    const dataDir = directory();
    const file = join(dataDir, 'integration.db');
    await (await under.openStore({ dataDir })).close();
    expect(readdirSync(dataDir)).toEqual(['integration.db']);
    writeFileSync(file, breakIt(readFileSync(file)));

    await refusalOf({ dataDir, environment: 'demo' });
  });

  test('that is refused is closed again: a start may be repeated many times', () => {
    const file = join(directory(), 'integration.db');
    writeFileSync(file, 'This is not a database. '.repeat(100));
    const openFiles = () => readdirSync('/dev/fd').length;
    const before = openFiles();
    expect(() => openSqlite(file)).toThrow(StoreError);
    expect(openFiles()).toBe(before);
  });

  test('with a damaged table that the start reads is refused for good, with the reason', async () => {
    const place = await under.newPlace();
    spoilTable(join(place.dataDir, 'integration.db'), 'environment');
    const { message, mayPass } = await refusalOf({ ...place, environment: 'live' });
    expect(message).toBe('The database is damaged: database disk image is malformed.');
    expect(mayPass).toBe(false);
  });
});

describe('a PostgreSQL address', () => {
  const directory = temporaryDirectories();

  test.each<{ title: string; mayPass: boolean; change: (url: URL) => string }>([
    {
      ...{ title: 'a port where nothing listens', mayPass: true },
      change: (url) => `postgresql://me:canary@127.0.0.1:1${url.pathname}`,
    },
    {
      ...{ title: 'a host that does not exist', mayPass: true },
      change: () => 'postgresql://me:canary@nowhere.invalid/db',
    },
    {
      ...{ title: 'a wrong password', mayPass: false },
      change: (url) => url.href.replace(/:[^:@]+@/, ':canary@'),
    },
    {
      ...{ title: 'a database that does not exist', mayPass: false },
      change: (url) => url.href.replace(/\/[^/]*$/, '/missing'),
    },
    {
      ...{ title: 'no address at all', mayPass: false },
      change: () => 'postgresql://me:canary@:not-a-port/db',
    },
  ])('with $title is refused without its password, for good or for now', async ({ change, mayPass }) => {
    const { url, drop } = await newPostgresDatabase();
    try {
      const databaseUrl = change(new URL(url));
      const refusal = await refusalOf({ dataDir: directory(), databaseUrl, environment: 'demo' });
      const { message } = refusal;
      expect(refusal.mayPass).toBe(mayPass);
      expect(message).toMatch(/PostgreSQL/);
      expect(message).toMatch(/: \S+.*\.$/);
      expect(message).not.toContain('canary');
    } finally {
      await drop();
    }
  });

  test('with a name of several addresses is refused with the reason of each', async () => {
    const addresses = [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ];
    const lookup = jest.spyOn(dns, 'lookup').mockImplementation(((
      _host: string,
      _options: object,
      done: Done,
    ) => {
      done(null, addresses);
    }) as never);
    try {
      const databaseUrl = 'postgresql://me:canary@several.example:1/db';
      const { message } = await refusalOf({ dataDir: directory(), databaseUrl, environment: 'demo' });
      expect(message).toMatch(/127\.0\.0\.1:1.*127\.0\.0\.2:1/);
    } finally {
      lookup.mockRestore();
    }
  });

  test('of a user who may not make tables is refused with what PostgreSQL says', async () => {
    const { url, drop } = await newPostgresDatabase();
    const admin = await openPostgres(url, () => undefined, PATIENT);
    const role = `reader_${new URL(url).pathname.slice(1)}`;
    await sql.raw(`create role ${role} login password 'p'`).execute(admin.patient);
    try {
      const databaseUrl = Object.assign(new URL(url), { username: role, password: 'p' }).href;
      const { message } = await refusalOf({ dataDir: directory(), databaseUrl, environment: 'demo' });
      expect(message).toMatch(/permission denied/);
    } finally {
      await sql.raw(`drop role ${role}`).execute(admin.patient);
      await admin.close();
      await drop();
    }
  });
});

function damaged(content: Buffer, from: number): Buffer {
  return Buffer.from(content).fill(0xa5, from);
}
