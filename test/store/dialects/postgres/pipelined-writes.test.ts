import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import type { Writer } from '../../../../src/store/database.js';
import { postCompiled } from '../../../../src/store/dialects/direct-statements.js';
import { queryBatch } from '../../../../src/store/dialects/postgres/batch.js';
import { openPostgres } from '../../../../src/store/dialects/postgres/postgres.js';
import { newPostgresDatabase, PATIENT } from '../../../support/databases.js';

/** On one connection, so that what one write leaves there meets the next. */
async function withMarks(
  body: (marks: {
    database: Awaited<ReturnType<typeof openPostgres>>;
    all(): Promise<number[]>;
  }) => Promise<void>,
): Promise<void> {
  const { url, drop } = await newPostgresDatabase();
  const database = await openPostgres(url, () => undefined, PATIENT);
  try {
    await sql`create table marks (mark integer primary key)`.execute(database.patient);
    const all = async () => {
      const { rows } = await sql<{ mark: number }>`select mark from marks order by mark`.execute(
        database.reader,
      );
      return rows.map(({ mark }) => mark);
    };
    await body({ database, all });
  } finally {
    await database.close();
    await drop();
  }
}

const marking = (writer: Writer, mark: number) => sql`insert into marks values (${mark})`.execute(writer);

function post(writer: Writer, mark: number): Promise<void> {
  const compiled = sql`insert into marks values (${mark})`.compile(writer);
  return postCompiled(writer, compiled, compiled.parameters);
}

describe('a write whose statements do not wait for each other', () => {
  test('is stored whole, in order', () =>
    withMarks(async ({ database, all }) => {
      const counts = await database.write(async (writer) => {
        await post(writer, 1);
        const seen = sql<{ count: number }>`select count(*) from marks`.execute(writer);
        const [before, , after] = await Promise.all([
          seen,
          marking(writer, 2),
          sql<{ count: number }>`select count(*) from marks`.execute(writer),
        ]);
        await post(writer, 3);
        return [before, after].map(({ rows }) => rows[0]?.count);
      });
      expect(counts).toEqual([1, 2]);
      expect(await all()).toEqual([1, 2, 3]);
    }));

  test('of many statements without an answer is stored whole', () =>
    withMarks(async ({ database, all }) => {
      await database.write(async (writer) => {
        for (let mark = 0; mark < 500; mark += 1) {
          await post(writer, mark);
        }
      });
      expect(await all()).toHaveLength(500);
    }));

  test.each([
    ['a later answer', async (writer: Writer) => void (await marking(writer, 2))],
    ['the commit', async () => undefined],
    [
      'another error of the work',
      async () => {
        throw new Error('The work has given up.');
      },
    ],
    [
      'the answer to one of several sent together',
      async (writer: Writer) => {
        await Promise.all([marking(writer, 2), marking(writer, 3)]);
      },
    ],
  ])('fails with the error of a statement without an answer, instead of %s', (_, rest) =>
    withMarks(async ({ database, all }) => {
      await database.write(async (writer) => void (await marking(writer, 1)));
      const write = database.write(async (writer) => {
        await marking(writer, 4);
        await post(writer, 1);
        await rest(writer);
      });
      await expect(write).rejects.toMatchObject({ code: '23505' });
      expect(await all()).toEqual([1]);
      // All connections are sound.
      await Promise.all(
        Array.from({ length: 20 }, (_, mark) =>
          database.write(async (writer) => void (await marking(writer, 10 + mark))),
        ),
      );
      expect(await all()).toHaveLength(21);
    }),
  );

  test('runs nothing after its end', () =>
    withMarks(async ({ database, all }) => {
      let last: Writer | undefined;
      await database.write(async (writer) => {
        last = writer;
        await marking(writer, 1);
      });
      await expect(marking(last as Writer, 2)).rejects.toThrow('The transaction of this statement is over.');
      expect(await all()).toEqual([1]);
    }));

  test('that runs nothing is no transaction', () =>
    withMarks(async ({ database }) => {
      await expect(database.write(async () => 'done')).resolves.toBe('done');
    }));
});

test('a statement that is sent with a failing `begin` does not run', async () => {
  const { url, drop } = await newPostgresDatabase();
  const client = new pg.Client({ connectionString: url, pipeline: true });
  await client.connect();
  await client.query('create table marks (mark integer)');
  const insertion = { text: 'insert into marks values ($1)', values: [1] };
  await expect(queryBatch(client, ['begin of nothing'], insertion)).rejects.toThrow('syntax error');
  await expect(queryBatch(client, ['begin'], { ...insertion, values: ['x'] })).rejects.toThrow(
    'invalid input syntax',
  );
  await expect(client.query('select 1')).rejects.toThrow('current transaction is aborted');
  await client.query('rollback');
  expect((await client.query('select from marks')).rowCount).toBe(0);
  await queryBatch(client, ['begin'], insertion);
  await client.query('commit');
  expect((await client.query('select from marks')).rowCount).toBe(1);
  await client.end();
  await drop();
});
