import { afterEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import {
  keptPosted,
  keptStatement,
  plannedStatement,
} from '../../../../src/store/adapters/statements/kept-statement.js';
import type { Database, Writer } from '../../../../src/store/database.js';
import { queryBatch } from '../../../../src/store/dialects/postgres/batch.js';
import { openPostgres } from '../../../../src/store/dialects/postgres/postgres.js';
import { newPostgresDatabase, PATIENT } from '../../../support/databases.js';
import { transactionPooler } from '../../../support/postgres/transaction-pooler.js';

/** The server decides after five plans for given values whether one plan will do for all. */
const PLANNED_BEFORE = 5;

interface Numbered {
  id: number;
  label: string;
}

const find = () =>
  keptStatement(
    (_, { id }: { id: number }) => sql<Numbered>`select id, label from numbered where id = ${id}`,
  );

const prepared = (db: Writer) =>
  sql<{ statement: string; plans: number; generic: number }>`
    select statement, custom_plans::int as plans, generic_plans::int as generic from pg_prepared_statements
  `
    .execute(db)
    .then(({ rows }) => rows);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

/** With a table of three rows. Writes one after the other take the same connection. */
async function open(through: (url: string) => Promise<string> = async (url) => url): Promise<Database> {
  const { url } = await newPostgresDatabase();
  const database = await openPostgres(await through(url), () => undefined, { ...PATIENT, plansKeptMs: 0 });
  cleanups.push(() => database.close());
  await database.write(async (db) => {
    await sql`create table numbered (id int primary key, label text not null)`.execute(db);
    await sql`insert into numbered select n, 'label ' || n from generate_series(1, 3) n`.execute(db);
  });
  return database;
}

test('a kept statement is parsed and planned once for all its uses on a connection', async () => {
  const { write } = await open();
  const findOne = find();
  const [statements, labels] = await write(async (db) => {
    const found: string[] = [];
    for (let use = 0; use < PLANNED_BEFORE + 20; use += 1) {
      found.push(...(await findOne(db, { id: (use % 3) + 1 })).rows.map(({ label }) => label));
    }
    return [await prepared(db), found] as const;
  });
  expect(statements).toEqual([
    { statement: 'select id, label from numbered where id = $1', plans: PLANNED_BEFORE, generic: 20 },
  ]);
  expect(labels.slice(0, 4)).toEqual(['label 1', 'label 2', 'label 3', 'label 1']);
});

test('reads without a transaction use it too', async () => {
  const { reader } = await open();
  const findOne = find();
  await findOne(reader, { id: 1 });
  expect((await findOne(reader, { id: 2 })).rows).toEqual([{ id: 2, label: 'label 2' }]);
  expect(await prepared(reader as Writer)).toHaveLength(1);
});

test('a statement that is to be planned for each call is not prepared', async () => {
  const { write } = await open();
  const findOne = plannedStatement(
    (_, { id }: { id: number }) => sql<Numbered>`select id, label from numbered where id = ${id}`,
  );
  await write(async (db) => {
    expect((await findOne(db, { id: 3 })).rows).toEqual([{ id: 3, label: 'label 3' }]);
    expect(await prepared(db)).toEqual([]);
  });
});

describe('a statement with all columns has the one that a migration adds', () => {
  const all = () => keptStatement(() => sql<Numbered>`select * from numbered order by id`);
  const addColumn = ({ write }: Database) =>
    write((db) => sql`alter table numbered add column added int default 7`.execute(db));

  test('in a read', async () => {
    const database = await open();
    const readAll = all();
    await readAll(database.reader, {});
    await addColumn(database);
    expect((await readAll(database.reader, {})).rows[0]).toMatchObject({ id: 1, added: 7 });
    expect((await readAll(database.reader, {})).rows[0]).toMatchObject({ id: 1, added: 7 });
  });

  test.each([
    ['as its first statement', async () => undefined],
    ['behind others', (db: Writer) => sql`insert into numbered values (4, 'written once')`.execute(db)],
  ])('in a write that is repeated, %s', async (_, before) => {
    const database = await open();
    const readAll = all();
    // Two connections know the statement.
    await Promise.all([1, 2].map(() => database.write((db) => readAll(db, {}))));
    await addColumn(database);
    const { rows } = await database.write(async (db) => {
      await before(db);
      return readAll(db, {});
    });
    expect(rows[0]).toMatchObject({ id: 1, added: 7 });
    const written = await database.write((db) => readAll(db, {}));
    expect(written.rows).toHaveLength(rows.length);
  });

  test('in a write that does not wait for the answer', async () => {
    const database = await open();
    const touch = keptPosted(() => sql`update numbered set label = label || '!' where id = 1 returning *`);
    const twice = () =>
      database.write(async (db) => {
        await sql`select 1`.execute(db);
        await touch(db, {});
        await touch(db, {});
      });
    await twice();
    await addColumn(database);
    await twice();
    const { rows } = await find()(database.reader, { id: 1 });
    expect(rows[0]?.label).toBe('label 1!!!!');
  });
});

test('plans follow the size of their tables', async () => {
  const { write } = await open();
  const findOne = find();
  await write(async (db) => {
    await sql`alter table numbered set (autovacuum_enabled = off)`.execute(db);
    await sql`analyze numbered`.execute(db);
  });
  const useOften = () =>
    write(async (db) => {
      for (let use = 0; use < 2 * PLANNED_BEFORE; use += 1) {
        await findOne(db, { id: 1 });
      }
      return (await prepared(db))[0];
    });
  // The scan of one page is cheaper than the index.
  expect(await useOften()).toMatchObject({ generic: PLANNED_BEFORE });
  await write((db) =>
    sql`insert into numbered select n, 'label ' || n from generate_series(4, 50000) n`.execute(db),
  );
  await useOften();
  const explained = await write(async (db) => {
    await sql`set local plan_cache_mode = force_generic_plan`.execute(db);
    const [name] = (await sql<{ name: string }>`select name from pg_prepared_statements`.execute(db)).rows;
    return sql<{ 'QUERY PLAN': string }>`explain execute ${sql.ref(name?.name ?? '')}(1)`.execute(db);
  });
  expect(JSON.stringify(explained.rows)).toContain('Index Scan');
});

describe('after a first parse that the server refused', () => {
  const later = () =>
    keptStatement((_, { id }: { id: number }) => sql<Numbered>`select id from made_later where id = ${id}`);

  test.each([
    ['with `begin`', async () => undefined],
    ['within its transaction', (db: Writer) => sql`select 1`.execute(db)],
  ])('the next use parses again, where the statement was sent %s', async (_, before) => {
    const { write } = await open();
    const use = later();
    const inWrite = () =>
      write(async (db) => {
        await before(db);
        return use(db, { id: 1 });
      });
    await expect(inWrite()).rejects.toThrow('made_later');
    await write((db) => sql`create table made_later as select 1 as id`.execute(db));
    expect((await inWrite()).rows).toEqual([{ id: 1 }]);
    expect((await inWrite()).rows).toEqual([{ id: 1 }]);
  });

  test('the next use parses again, where a statement before it in its batch was refused', async () => {
    const { url } = await newPostgresDatabase();
    const client = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig);
    await client.connect();
    cleanups.push(() => client.end());
    const statement = { name: 'one', text: 'select $1::int as value', values: [1] };
    await expect(queryBatch(client, ['begin', 'select 1 / 0'], statement)).rejects.toThrow('division');
    await client.query('rollback');
    const { rows } = await queryBatch(client, ['begin'], statement);
    expect(rows).toEqual([{ value: 1 }]);
    expect((await client.query(statement)).rows).toEqual([{ value: 1 }]);
  });

  test('statements of the same name behind it are refused for the same reason', async () => {
    const { write } = await open();
    const lateTable = keptPosted((_, { id }: { id: number }) => sql`insert into made_later values (${id})`);
    const posting = () =>
      write(async (db) => {
        await sql`select 1`.execute(db);
        await lateTable(db, { id: 1 });
        await lateTable(db, { id: 2 });
      });
    await expect(posting()).rejects.toThrow('relation "made_later" does not exist');
    await write((db) => sql`create table made_later (id int)`.execute(db));
    await expect(posting()).resolves.toBeUndefined();
  });
});

test('behind a pooler that tells the process of the server, calls succeed and names end', async () => {
  const { write, reader } = await open(async (url) => {
    const pooler = await transactionPooler(url, 'refused', 'the process of the server');
    cleanups.push(() => pooler.close());
    return pooler.url;
  });
  const findOne = find();
  const findIn = (id: number) =>
    write(async (db) => {
      await sql`update numbered set label = label || '!' where id = ${id}`.execute(db);
      return (await findOne(db, { id })).rows;
    });
  expect((await findOne(reader, { id: 2 })).rows).toEqual([{ id: 2, label: 'label 2' }]);
  expect(await prepared(reader as Writer)).toHaveLength(1);
  expect(await findIn(1)).toEqual([{ id: 1, label: 'label 1!' }]);
  expect(await findIn(1)).toEqual([{ id: 1, label: 'label 1!!' }]);
  expect((await findOne(reader, { id: 3 })).rows).toEqual([{ id: 3, label: 'label 3' }]);
  const another = find();
  await write((db) => another(db, { id: 1 }));
  expect(await prepared(reader as Writer)).toHaveLength(1);
});

test('behind a pooler in transaction mode nothing is prepared', async () => {
  const { write, reader } = await open(async (url) => {
    const pooler = await transactionPooler(url, 'refused');
    cleanups.push(() => pooler.close());
    return pooler.url;
  });
  const findOne = find();
  await write(async (db) => {
    expect((await findOne(db, { id: 1 })).rows).toEqual([{ id: 1, label: 'label 1' }]);
    expect(await prepared(db)).toEqual([]);
  });
  expect((await findOne(reader, { id: 2 })).rows).toEqual([{ id: 2, label: 'label 2' }]);
});
