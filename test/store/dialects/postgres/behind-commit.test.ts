import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import type { Database, Writer } from '../../../../src/store/database.js';
import { sendBehindCommit } from '../../../../src/store/dialects/direct-statements.js';
import { openPostgres } from '../../../../src/store/dialects/postgres/postgres.js';
import { newPostgresDatabase, PATIENT } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { transactionPooler } from '../../../support/postgres/transaction-pooler.js';
import { signalled } from '../../../support/signalled.js';

const LOCK = 7;
/** As many as the pool of writes has. */
const CONNECTIONS = 12;

interface Behind {
  text?: string | undefined;
  /** Runs before the end of the work. */
  work?: (writer: Writer) => Promise<unknown>;
}

/** A write that inserts a mark, with a statement behind its commit. */
async function writeWith({ write }: Database, { text = 'select', work = async () => undefined }: Behind) {
  const seen = { asked: 0, failed: 0, pid: 0 };
  const next = () => {
    seen.asked += 1;
    return {
      text,
      onFailed: () => {
        seen.failed += 1;
      },
    };
  };
  const outcome = await write(async (writer) => {
    await sendBehindCommit(writer, next);
    const { rows } = await sql<{ pid: number }>`
      insert into marks default values returning pg_backend_pid() as pid
    `.execute(writer);
    seen.pid = rows[0]?.pid ?? 0;
    await work(writer);
  }).then(
    () => 'committed',
    (error: Error) => error.message,
  );
  return { outcome, seen };
}

async function withMarks(
  body: (under: { database: Database; url: string; marks(): Promise<number> }) => Promise<void>,
  way: (url: string) => Promise<{ url: string; close(): void }> = async (url) => ({
    url,
    close: () => undefined,
  }),
  limits = PATIENT,
) {
  const { url, drop } = await newPostgresDatabase();
  const { url: wayUrl, close } = await way(url);
  const database = await openPostgres(wayUrl, () => undefined, limits);
  try {
    await sql`create table marks (id serial)`.execute(database.patient);
    const marks = async () => (await sql`select from marks`.execute(database.reader)).rows.length;
    await body({ database, url, marks });
  } finally {
    await database.close();
    close();
    await drop();
  }
}

/** All connections of the pool of writes that can be had at once. */
async function lent({ write }: Database, count = CONNECTIONS): Promise<number[]> {
  const { told: together, tell: all } = signalled();
  const pids: number[] = [];
  await Promise.all(
    Array.from({ length: count }, () =>
      write(async (writer) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(writer);
        pids.push(rows[0]?.pid ?? 0);
        if (pids.length === count) {
          all();
        }
        await together;
      }),
    ),
  );
  return pids;
}

describe('a statement behind a commit', () => {
  test('keeps the connection from others until it is answered, and the caller does not wait for it', () =>
    withMarks(async ({ database, url, marks }) => {
      const holder = new pg.Client({ connectionString: url });
      await holder.connect();
      await holder.query('select pg_advisory_lock($1)', [LOCK]);
      const { outcome, seen } = await writeWith(database, { text: `select pg_advisory_xact_lock(${LOCK})` });
      expect(outcome).toBe('committed');
      expect(await marks()).toBe(1);
      expect(await lent(database, CONNECTIONS - 1)).not.toContain(seen.pid);
      await holder.end();
      expect(await lent(database)).toContain(seen.pid);
      expect(seen).toMatchObject({ asked: 1, failed: 0 });
    }));

  test.each([
    ['is refused', 'select refused'],
    ['loses its connection', 'select pg_terminate_backend(pg_backend_pid())'],
  ])('tells when it %s, which does not fail the write', (_, text) =>
    withMarks(async ({ database, marks }) => {
      const { outcome, seen } = await writeWith(database, { text });
      expect(outcome).toBe('committed');
      await eventually('a failure that is told', () => seen.failed === 1);
      expect(await marks()).toBe(1);
      expect(await lent(database)).toHaveLength(CONNECTIONS);
    }),
  );

  test.each([
    ['is refused', 'raise exception $$refused$$', 'refused'],
    [
      'is not answered',
      'perform pg_terminate_backend(pg_backend_pid())',
      'The service does not know whether the change was made.',
    ],
  ])('changes nothing about a commit that %s', (_, refusal, message) =>
    withMarks(async ({ database, marks }) => {
      await sql`
        create function refuse() returns trigger language plpgsql as ${sql.lit(`begin ${refusal}; return null; end`)}
      `.execute(database.patient);
      await sql`
        create constraint trigger refusing after insert on marks deferrable initially deferred
        for each row execute function refuse()
      `.execute(database.patient);
      const { outcome, seen } = await writeWith(database, { text: 'select refused' });
      expect(outcome).toContain(message);
      expect(await marks()).toBe(0);
      expect(await lent(database)).toHaveLength(CONNECTIONS);
      expect(seen.failed).toBe(0);
    }),
  );

  test('that is not answered in time gives its connection back to others', () =>
    withMarks(
      async ({ database, url, marks }) => {
        const holder = new pg.Client({ connectionString: url });
        await holder.connect();
        await holder.query('select pg_advisory_lock($1)', [LOCK]);
        const { outcome, seen } = await writeWith(database, {
          text: `select pg_advisory_xact_lock(${LOCK})`,
        });
        expect([outcome, await marks()]).toEqual(['committed', 1]);
        await eventually('a failure that is told', () => seen.failed === 1);
        expect(await lent(database)).toHaveLength(CONNECTIONS);
        await holder.end();
      },
      undefined,
      { ...PATIENT, answerMs: 5_000 },
    ));

  test('is not sent for a write that is undone', () =>
    withMarks(async ({ database, marks }) => {
      const work = () => Promise.reject(new Error('The work has given up.'));
      const { outcome, seen } = await writeWith(database, { work });
      expect([outcome, seen.asked, await marks()]).toEqual(['The work has given up.', 0, 0]);
    }));

  test('is not sent through a pooler in transaction mode', () =>
    withMarks(
      async ({ database, marks }) => {
        const { outcome, seen } = await writeWith(database, {});
        expect([outcome, seen.asked, await marks()]).toEqual(['committed', 0, 1]);
      },
      (url) => transactionPooler(url, 'ignored'),
    ));
});
