import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { claimDirectory } from '../../../src/store/file-lock.js';
import { MOVE_MARK } from '../../../src/store/migrate.js';
import type { Progress } from '../../../src/store/moves/move-to-postgres.js';
import { MOVED_FILE } from '../../../src/store/moves/moved-file.js';
import { openStore } from '../../../src/store/store.js';
import { databaseUnderTest, PATIENT } from '../../support/databases.js';
import {
  AT,
  cuttingProxy,
  move,
  plantEveryTable,
  rowsOfPostgres,
  rowsOfSqlite,
  sqliteIn,
  withPostgres,
} from './rig.js';

const sqlite = databaseUnderTest('SQLite');
const postgres = databaseUnderTest('PostgreSQL');

/** More than one page of rows; units refer to later units. */
const MANY = { units: 4_500, events: 2_500 };

async function newSource(rows = 40, others: Record<string, number> = {}): Promise<string> {
  const { dataDir } = await sqlite.newPlace();
  const store = await sqlite.openStore({ dataDir });
  await store.close();
  plantEveryTable(dataDir, rows, others);
  return dataDir;
}

async function newTarget(): Promise<string> {
  return (await postgres.newEmptyPlace()).databaseUrl as string;
}

/** Migrated, with the mark of an attempt that was killed behind it: less work than the migrations. */
async function newMarkedTarget(dataDir: string): Promise<string> {
  const { databaseUrl = '' } = await postgres.newPlace();
  const [environment] = rowsOfSqlite(dataDir).environment ?? [];
  await withPostgres(databaseUrl, (client) =>
    client.query(`
      create table ${MOVE_MARK} (environment_made_at bigint, since bigint);
      insert into ${MOVE_MARK} values (${environment?.created_at}, ${AT - 1});
    `),
  );
  return databaseUrl;
}

function change(dataDir: string, statement: string, ...values: unknown[]): void {
  const database = sqliteIn(dataDir);
  database.prepare(statement).run(...values);
  database.close();
}

const bytesOf = (dataDir: string) =>
  createHash('sha256')
    .update(readFileSync(join(dataDir, 'integration.db')))
    .digest('hex');

const refusalOf = (moving: Promise<unknown>) =>
  moving.then(
    () => 'It moved.',
    (error: Error) => error.message,
  );

/** Between the mark and the transaction: as a killed run leaves it. */
async function leaveMark(dataDir: string, databaseUrl: string, at = AT - 1): Promise<void> {
  const onProgress = () => {
    throw new Error('killed');
  };
  await expect(move(dataDir, databaseUrl, { at, onProgress })).rejects.toThrow('killed');
}

describe('a move to PostgreSQL', () => {
  test('copies every row of every table, of which none is empty here, and leaves SQLite as it was', async () => {
    const dataDir = await newSource(40, MANY);
    const databaseUrl = await newTarget();
    const before = [bytesOf(dataDir), rowsOfSqlite(dataDir)];
    const progress: Progress[] = [];
    const { rows, wasComplete } = await move(dataDir, databaseUrl, {
      onProgress: (each) => void progress.push(each),
    });

    expect([bytesOf(dataDir), rowsOfSqlite(dataDir)]).toEqual(before);
    const source = before[1] as ReturnType<typeof rowsOfSqlite>;
    expect(Object.values(source).filter((each) => each.length === 0)).toEqual([]);
    const target = await rowsOfPostgres(databaseUrl);
    const records = target.audit_events?.filter(({ type }) => type === 'database.moved');
    expect(records).toMatchObject([
      { actor_id: 'migrate-store', created_at: String(AT), outcome: 'succeeded' },
    ]);
    const copied = target.audit_events?.filter(({ type }) => type !== 'database.moved');
    // The positions of PostgreSQL continue those of SQLite.
    expect(target.change_feed).not.toEqual(source.change_feed);
    // Readers who have read no more than its last position go on in the life that begins on the server.
    const [last] = (source.change_feed ?? [])
      .map((row) => row.last_position)
      .sort()
      .reverse();
    const begun = target.change_lives?.filter((row) => row.last_position === null);
    expect(begun).toMatchObject([{ history: expect.stringMatching(/^\d+ [0-9A-F]{8}$/) }]);
    const over = source.change_lives?.map((row) => ({ ...row, last_position: row.last_position ?? last }));
    const toldOf = (rows: readonly object[] = []) => rows.map((row) => JSON.stringify(row)).sort();
    expect(toldOf(target.change_lives)).toEqual(toldOf([...(over ?? []), ...(begun ?? [])]));
    const { change_feed, change_lives } = source;
    expect({ ...target, audit_events: copied, change_feed, change_lives }).toEqual(source);
    expect(rows).toEqual(Object.fromEntries(Object.entries(source).map(([name, all]) => [name, all.length])));
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    expect([wasComplete, progress.filter(({ done }) => done === total).map(({ step }) => step)]).toEqual([
      false,
      ['copied', 'compared'],
    ]);
  });

  test('expires the cursors of a source that the service did not close: readers may have read what was undone', async () => {
    const { dataDir: open } = await sqlite.newPlace();
    await (await sqlite.openStore({ dataDir: open })).close();
    const store = await sqlite.openStore({ dataDir: open });
    const [{ life = '' } = {}] = (await store.changes.lives()).lives;
    change(open, 'update environment set created_at = created_at + 1');
    // As the disk has it after a power failure.
    const { dataDir } = await sqlite.newEmptyPlace();
    mkdirSync(dataDir, { recursive: true });
    for (const name of ['integration.db', 'integration.db-wal']) {
      copyFileSync(join(open, name), join(dataDir, name));
    }
    const databaseUrl = await newTarget();
    // Reading the key ids would close the file.
    const fail = () => {
      throw new Error('failed');
    };
    await expect(move(dataDir, databaseUrl, { keyIds: [], onProgress: fail })).rejects.toThrow('failed');
    await move(dataDir, databaseUrl, { keyIds: [] });
    const { change_lives: lives } = await rowsOfPostgres(databaseUrl);
    expect(lives?.find((row) => row.life === life)).toMatchObject({ last_position: '0' });
    expect(lives?.filter((row) => row.last_position === null)).toHaveLength(1);
  });

  test('leaves out the tables that Litestream has added to the source', async () => {
    const dataDir = await newSource();
    change(dataDir, 'create table _litestream_seq (id integer primary key, seq integer)');
    change(dataDir, 'create table _litestream_lock (id integer)');
    change(dataDir, 'insert into _litestream_seq values (1, 7)');
    const databaseUrl = await newMarkedTarget(dataDir);
    const { rows } = await move(dataDir, databaseUrl);
    const tables = [...Object.keys(rows), ...Object.keys(await rowsOfPostgres(databaseUrl))];
    expect(tables.filter((name) => name.includes('litestream'))).toEqual([]);
    expect(rows.clients).toBe(40);
  });

  test('gives the target the constraints and indexes of one that was migrated empty', async () => {
    const dataDir = await newSource();
    const databaseUrl = await newTarget();
    await move(dataDir, databaseUrl);
    const schema = (url: string) =>
      withPostgres(url, async (client) => {
        const { rows } = await client.query(`
          select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
            where connamespace = 'public'::regnamespace
          union all select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1, 2
        `);
        return rows;
      });
    expect(await schema(databaseUrl)).toEqual(
      await schema((await postgres.newPlace()).databaseUrl as string),
    );
  });

  test('lets new rows continue after the greatest number', async () => {
    const dataDir = await newSource();
    const databaseUrl = await newMarkedTarget(dataDir);
    await move(dataDir, databaseUrl);
    const next = await withPostgres(databaseUrl, async (client) => {
      const { rows } = await client.query(`
        select nextval(pg_get_serial_sequence('events', 'seq')) - (select max(seq) from events) as events,
          nextval(pg_get_serial_sequence('deliveries', 'seq')) - (select max(seq) from deliveries) as deliveries
      `);
      return rows[0];
    });
    expect(next).toEqual({ events: '1', deliveries: '1' });
  });

  test('keeps values of every kind as they are', async () => {
    const dataDir = await newSource(1);
    const seed = Date.now() % 2 ** 31;
    const text = fc.string({ unit: 'binary', maxLength: 60 }).map((each) => each.replaceAll('\0', ''));
    const values = fc.sample(fc.tuple(text, fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)), {
      seed,
      numRuns: 1_000,
    });
    const database = sqliteIn(dataDir);
    const insertion = database.prepare('insert into maintenance_runs (job, run, ends_at) values (?, ?, ?)');
    for (const [index, [value, number]] of values.entries()) {
      insertion.run(`${value}${index}`, value, number);
    }
    insertion.run('large', '“😀\\'.repeat(300_000), 1n);
    database.close();
    const databaseUrl = await newMarkedTarget(dataDir);
    await move(dataDir, databaseUrl).catch((cause) => {
      throw new Error(`The move fails with the seed ${seed}.`, { cause });
    });
    const [from, to] = [rowsOfSqlite(dataDir), await rowsOfPostgres(databaseUrl)];
    if (JSON.stringify(from.maintenance_runs) !== JSON.stringify(to.maintenance_runs)) {
      throw new Error(`Values differ with the seed ${seed}.`);
    }
  });
});

describe('values that PostgreSQL cannot store', () => {
  test('stop the move, and are all named by table, row and column, without the value', async () => {
    const dataDir = await newSource();
    const spoil = (statement: string, ...values: unknown[]) => change(dataDir, statement, ...values);
    const [first, second, third] = (rowsOfSqlite(dataDir).workers ?? []).map(({ id }) => id);
    spoil('update workers set first_name = ? where id = ?', 'Hush\0hush', first);
    spoil("update workers set last_name = cast(x'4875ff7368' as text) where id = ?", second);
    spoil("update workers set phone = x'01' where id = ?", third);
    spoil("update workers set created_at = 'soon' where id = ?", third);
    spoil(
      'update delivery_attempts set number = 3000000000 where number = (select max(number) from delivery_attempts)',
    );
    const databaseUrl = await newMarkedTarget(dataDir);
    const message = await refusalOf(move(dataDir, databaseUrl));
    expect(message).toMatch(/^PostgreSQL cannot store all values of the database\. Nothing was moved\.\n/);
    for (const problem of [
      'the column first_name has a NUL character, which PostgreSQL cannot store',
      'the column last_name is not valid UTF-8',
      'the column phone is not text but a blob',
      'the column created_at is not an integer but text',
      'the column number is too large for integer',
    ]) {
      expect(message).toContain(problem);
    }
    expect(message.split('\n')).toHaveLength(6);
    expect(message).not.toContain('ush');
    const { workers } = await rowsOfPostgres(databaseUrl);
    expect([workers, existsSync(join(dataDir, MOVED_FILE))]).toEqual([[], false]);
  });
});

describe('a row that arrives otherwise', () => {
  const FAULTS: [title: string, body: string, message: RegExp][] = [
    [
      'with another value',
      "new.version := new.version || '!'; return new;",
      /^The table workers of PostgreSQL has another value in the column version of the row id=.+\. Nothing was moved\.$/,
    ],
    ['not at all', 'return null;', /^The table workers of PostgreSQL has no row in place of id=/],
    [
      'under another key',
      "new.id := new.id || '!'; return new;",
      /^The table workers of PostgreSQL has the row id=.+ in place of id=/,
    ],
    [
      'with a row that is not in SQLite',
      "insert into data_versions values ('\u{10ffff}\u{10ffff}' || new.id, 'v1'); return new;",
      /^The table data_versions of PostgreSQL has a row too many: subject_id=/,
    ],
  ];

  test.each(FAULTS)('%s is found, and nothing is moved', async (_, body, message) => {
    const dataDir = await newSource(3);
    change(dataDir, 'delete from worker_units');
    const databaseUrl = await newMarkedTarget(dataDir);
    await withPostgres(databaseUrl, (client) =>
      client.query(`
        create function fault() returns trigger language plpgsql as $$ begin ${body} end $$;
        create trigger fault before insert on workers for each row execute function fault();
      `),
    );
    expect(await refusalOf(move(dataDir, databaseUrl))).toMatch(message);
    expect((await rowsOfPostgres(databaseUrl)).clients).toEqual([]);
    expect(existsSync(join(dataDir, MOVED_FILE))).toBe(false);
    await withPostgres(databaseUrl, (client) => client.query('drop function fault cascade'));
    expect(await move(dataDir, databaseUrl, { at: AT + 1 })).toMatchObject({ wasComplete: false });
  });
});

describe('an interrupted move', () => {
  test('leaves no rows, no service starts on it, SQLite does, and it can be repeated', async () => {
    const dataDir = await newSource();
    const databaseUrl = await newTarget();
    await leaveMark(dataDir, databaseUrl);
    const asked = { dataDir, databaseUrl, environment: 'demo', limits: PATIENT } as const;
    const refused = await refusalOf(openStore(asked));
    expect(refused).toMatch(/^The move of a SQLite database into this database is not complete\. /);
    await (await sqlite.openStore({ dataDir })).close();
    const rows = Object.values(await rowsOfPostgres(databaseUrl));
    // The mark, and what the migrations write.
    expect(rows.filter((each) => each.length > 0)).toHaveLength(3);
    expect(await move(dataDir, databaseUrl)).toMatchObject({ wasComplete: false });
    await (await postgres.openStore({ dataDir, databaseUrl })).close();
  });

  test.each([
    ['did not reach the server', 'question', false],
    ['was not answered', 'answer', true],
  ] as const)(
    'whose commit %s leaves no database in use, and the next run settles it',
    async (_, at, isDone) => {
      const dataDir = await newSource();
      const databaseUrl = await newMarkedTarget(dataDir);
      const proxy = await cuttingProxy(databaseUrl, dataDir, at);
      const message = await refusalOf(move(dataDir, proxy.url));
      proxy.close();
      expect(message).toMatch(
        /^PostgreSQL did not complete the move: .+ Run the command again: it finds out /,
      );
      const onSqlite = await refusalOf(openStore({ dataDir, environment: 'demo' }));
      expect(onSqlite).toMatch(/ was moved to PostgreSQL /);
      const again = await move(dataDir, databaseUrl, { at: AT + 1 });
      expect(again).toMatchObject({ wasComplete: isDone, at: isDone ? AT : AT + 1 });
      const { workers } = await rowsOfPostgres(databaseUrl);
      expect(workers).toEqual(rowsOfSqlite(dataDir).workers);
    },
  );
});

describe('a move is refused', () => {
  test('while a domain uses the directory, or a command writes', async () => {
    const dataDir = await newSource(1);
    const databaseUrl = await newTarget();
    const claim = claimDirectory(dataDir);
    expect(await refusalOf(move(dataDir, databaseUrl))).toBe(
      `Another domain already runs on ${dataDir}. Stop it, or set DATA_DIR to another directory.`,
    );
    claim.release();
  });

  test('where there is no SQLite database', async () => {
    const { dataDir } = await sqlite.newEmptyPlace();
    const databaseUrl = await newTarget();
    expect(await refusalOf(move(dataDir, databaseUrl, { keyIds: [] }))).toBe(
      `There is no SQLite database in ${dataDir}. Set DATA_DIR to where it is.`,
    );
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test.each([
    [
      'of another environment',
      { environment: 'live' as const },
      / belongs to the demo environment, but ENVIRONMENT is live\.$/,
    ],
    [
      'of another issuer',
      { issuer: { issuer: 'https://other.example.com' } },
      /^The database belongs to the issuer https:\/\/sign-on\.example\.com, /,
    ],
    ['whose encryption key is missing', { keyIds: ['ek_other'] }, /^The database needs the encryption key /],
  ])('%s', async (_, given, message) => {
    const dataDir = await newSource(1);
    change(dataDir, "update environment set issuer = 'https://sign-on.example.com'");
    change(dataDir, 'update encryption_keys set retired_at = null');
    const databaseUrl = await newTarget();
    expect(await refusalOf(move(dataDir, databaseUrl, given))).toMatch(message);
    expect(await rowsOfPostgres(databaseUrl)).toEqual({});
  });

  test('of an older or a newer release, or damaged', async () => {
    const dataDir = await newSource(2);
    const databaseUrl = await newTarget();
    change(dataDir, "insert into kysely_migration (name, timestamp) values ('9999-later', 'now')");
    expect(await refusalOf(move(dataDir, databaseUrl))).toContain('by a newer version of the service');
    change(dataDir, "delete from kysely_migration where name in ('9999-later', '0026-issuers')");
    expect(await refusalOf(move(dataDir, databaseUrl))).toMatch(
      /by an older version .* Start this version first\.$/,
    );
    change(dataDir, "insert into kysely_migration (name, timestamp) values ('0026-issuers', 'now')");
    const database = sqliteIn(dataDir);
    database.pragma('foreign_keys = OFF');
    database.exec('delete from instances');
    database.close();
    expect(await refusalOf(move(dataDir, databaseUrl))).toMatch(
      / is damaged: a row of \w+ refers to a missing row /,
    );
  });

  test('into a database with content, and with tables that SQLite has not', async () => {
    const dataDir = await newSource(1);
    const used = await postgres.newPlace();
    await (await postgres.openStore(used, 'live')).close();
    expect(await refusalOf(move(dataDir, used.databaseUrl as string))).toBe(
      'The PostgreSQL database is already in use, by the live environment of no issuer yet. Move into a new database.',
    );
    const other = await newTarget();
    await withPostgres(other, (client) => client.query('create table cats (name text)'));
    expect(await refusalOf(move(dataDir, other))).toBe(
      'The PostgreSQL database is not empty: it contains the table cats. Move into a new database.',
    );
    const more = await newTarget();
    await leaveMark(dataDir, more);
    await withPostgres(more, (client) => client.query('create table cats (name text)'));
    change(dataDir, 'create table dogs (name text)');
    expect(await refusalOf(move(dataDir, more))).toBe(
      'The two databases have different tables: only one has cats.name, dogs.name. Nothing was moved.',
    );
    await withPostgres(more, (client) =>
      client.query("drop table cats; insert into instances values ('ins_1', 'x', 'v', 1, 1)"),
    );
    change(dataDir, 'drop table dogs');
    expect(await refusalOf(move(dataDir, more))).toBe(
      'The table instances of PostgreSQL has rows of another origin. Move into a new database.',
    );
  });

  test('into the unfinished move of another database, or one of a newer release', async () => {
    const dataDir = await newSource(1);
    const databaseUrl = await newTarget();
    await leaveMark(dataDir, databaseUrl);
    const other = await newSource(1);
    change(other, 'update environment set created_at = created_at + 1');
    expect(await refusalOf(move(other, databaseUrl))).toBe(
      'The PostgreSQL database contains an unfinished move of another SQLite database. Move into a new database.',
    );
    await withPostgres(databaseUrl, (client) =>
      client.query("insert into kysely_migration (name, timestamp) values ('9999-later', 'now')"),
    );
    expect(await refusalOf(move(dataDir, databaseUrl))).toContain('by a newer version of the service');
  });

  test('into a second database, unless the operator has deleted the file that says so', async () => {
    const dataDir = await newSource(1);
    await move(dataDir, await newTarget());
    const again = await newTarget();
    expect(await refusalOf(move(dataDir, again))).toMatch(
      / was moved to PostgreSQL \(postgres:\/\/db\.example\/it\) on /,
    );
    expect(await rowsOfPostgres(again)).toEqual({});
  });
});
