import { expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import { ErrorCode, type ServiceError } from '../../../../src/errors/service-error.js';
import type { Database, StoreWatch } from '../../../../src/store/database.js';
import {
  openPostgres,
  openPostgresReader,
  SERVED_LIMITS,
} from '../../../../src/store/dialects/postgres/postgres.js';
import { whileAlive } from '../../../../src/store/dialects/postgres/signs-of-life.js';
import { asNoConnection, isServerRefusal } from '../../../../src/store/dialects/postgres/trouble.js';
import { mayPass } from '../../../../src/store/store-error.js';
import { newPostgresDatabase, PATIENT } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { fakeTimeouts } from '../../../support/fake-timeouts.js';
import { newMigratedPostgresDatabase } from '../../../support/postgres/new-database.js';
import { signalled } from '../../../support/signalled.js';
import { stallingProxy } from '../../../support/stalling-proxy.js';

test('a PostgreSQL that cuts a connection in the middle of a query fails that query, and nothing else', async () => {
  const { url } = await newPostgresDatabase();
  const heard: string[] = [];
  const database = await openPostgres(url, (error) => heard.push(error.message), PATIENT);
  const other = await openPostgres(url, () => undefined, PATIENT);
  try {
    const sleeping = sql`select pg_sleep(30) as slept`.execute(database.reader);
    const cut = sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like '%pg_sleep(30) as slept%' and pid <> pg_backend_pid()`;
    const refused = sleeping.then(
      () => 'slept',
      (error: ServiceError) => {
        expect(error.code).toBe(ErrorCode.UNAVAILABLE);
        return error.internal;
      },
    );
    let ended: string | undefined;
    void refused.then((message) => {
      ended = message;
    });
    while (ended === undefined) {
      await cut.execute(other.reader);
    }
    expect(ended).toMatch(/terminat/i);
    await eventually('a query that is answered again', async () => {
      const answered = sql`select 1`.execute(database.reader);
      return answered.then(
        () => true,
        () => false,
      );
    });
    // The connection reports it too; an unhandled error would have ended the process.
    expect(heard.every((message) => /terminat/i.test(message))).toBe(true);
  } finally {
    await database.close();
    await other.close();
  }
});

test('a PostgreSQL that goes away while it is opened may be tried again', async () => {
  const { url } = await newPostgresDatabase();
  const way = await stallingProxy(url);
  // The first connection only finds out which settings the others may use.
  const { end } = pg.Client.prototype;
  const first = jest.spyOn(pg.Client.prototype, 'end').mockImplementationOnce(function (this: pg.Client) {
    way.cut();
    return (end as () => Promise<void>).call(this);
  } as typeof end);
  try {
    await expect(openPostgres(way.url, () => undefined, PATIENT)).rejects.toMatchObject({
      ...{ name: 'StoreError', mayPass: true },
      message: expect.stringMatching(/cannot connect to PostgreSQL: .*(terminated|ECONN)/),
    });
  } finally {
    first.mockRestore();
    way.close();
  }
});

test('a server that falls silent after it has let the service in may be tried again', async () => {
  const { url } = await newPostgresDatabase();
  const way = await stallingProxy(url);
  way.answerAt((asked) => {
    if (!asked.includes('begin\0')) {
      return undefined;
    }
    jest.advanceTimersByTime(SERVED_LIMITS.connectMs);
    return new Promise(() => undefined);
  });
  fakeTimeouts();
  try {
    await expect(openPostgres(way.url, () => undefined)).rejects.toMatchObject({
      ...{ name: 'StoreError', mayPass: true },
      message: 'The service cannot connect to PostgreSQL: Query read timeout.',
    });
  } finally {
    jest.useRealTimers();
    way.close();
  }
});

test('PostgreSQL ends a transaction that stands still, so that a frozen process holds up the others for seconds only', async () => {
  const { url } = await newPostgresDatabase();
  const database = await openPostgres(url, () => undefined, { ...PATIENT, server: SERVED_LIMITS.server });
  try {
    const limits = await database.write((writer) =>
      sql`show idle_in_transaction_session_timeout`.execute(writer),
    );
    expect(limits.rows).toEqual([{ idle_in_transaction_session_timeout: '15s' }]);
  } finally {
    await database.close();
  }
});

test('PostgreSQL ends a migration whose process freezes, and lets a backup wait for pg_dump', async () => {
  const { url } = await newPostgresDatabase();
  const limits = { ...PATIENT, longIdleMs: SERVED_LIMITS.longIdleMs as number };
  const database = await openPostgres(url, () => undefined, limits);
  const ofBackup = await openPostgresReader(url);
  try {
    const limitIn = async (db: Database['reader']) => {
      const shown = await db
        .transaction()
        .execute((within) => sql`show idle_in_transaction_session_timeout`.execute(within));
      return shown.rows;
    };
    expect(await limitIn(database.patient)).toEqual([{ idle_in_transaction_session_timeout: '1min' }]);
    expect(await limitIn(ofBackup.reader)).toEqual([{ idle_in_transaction_session_timeout: '0' }]);
  } finally {
    await Promise.all([database.close(), ofBackup.close()]);
  }
});

test('a process that freezes during its trial write does not make those of others fail', async () => {
  const { url } = await newMigratedPostgresDatabase();
  const way = await stallingProxy(url);
  // A frozen transaction would last longer than others wait for it.
  const server = { ...PATIENT.server, lockMs: 20_000 };
  const limits = { ...PATIENT, quick: { server, answerMs: PATIENT.answerMs } };
  const [frozen, other] = [
    await openPostgres(way.url, () => undefined, limits),
    await openPostgres(url, () => undefined, limits),
  ];
  try {
    await other.write((writer) =>
      writer.insertInto('environment').values({ only_row: 1, name: 'demo', created_at: 1 }).execute(),
    );
    const { told: written, tell } = signalled();
    way.answerAt((asked) => {
      if (!/update "environment"|commit\0/.test(asked.toString())) {
        return undefined;
      }
      // As for the server, to which nothing more comes.
      way.hold('all');
      tell();
      return new Promise(() => undefined);
    });
    const lost = frozen.tryWrite().catch((error: unknown) => error);
    await written;
    await other.tryWrite();
    way.close();
    expect(await lost).toMatchObject({ code: ErrorCode.UNAVAILABLE });
  } finally {
    way.close();
    await Promise.all([frozen.close(), other.close()]);
  }
});

const SHORT = {
  ...{ server: { lockMs: 50, statementMs: 50, idleMs: 1_000 }, answerMs: 100, askMs: 10_000 },
  ...{ connectMs: PATIENT.connectMs, quick: PATIENT.quick },
};

test('a read without an answer in time is not sent again', async () => {
  const { url } = await newPostgresDatabase();
  const way = await stallingProxy(url);
  // Between the command to plan anew, which is sent when the connection is lent, and the read.
  const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  const watch = { lent: pause } as unknown as StoreWatch;
  const limits = { ...SHORT, plansKeptMs: 0 };
  const database = await openPostgres(way.url, () => undefined, limits, watch);
  try {
    // On a busy machine, the first answers may come too late as well.
    await eventually('a connection', () =>
      sql`select 1`.execute(database.reader).then(
        () => true,
        () => false,
      ),
    );
    way.freeze();
    await expect(sql`select 2`.execute(database.reader)).rejects.toMatchObject({
      ...{ code: ErrorCode.UNAVAILABLE, internal: 'Query read timeout' },
    });
  } finally {
    way.close();
    await database.close();
  }
});

test('a connection that is ready after its caller has stopped waiting is lent to the next one', async () => {
  const { url } = await newPostgresDatabase();
  const way = await stallingProxy(url);
  fakeTimeouts();
  const { patient, close } = await openPostgres(way.url, () => undefined, PATIENT);
  const observer = await openPostgres(url, () => undefined, PATIENT);
  try {
    const held = sql`select pg_sleep(600) as held`.execute(patient).catch((error: unknown) => error);
    const end = () =>
      sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query like '%as held%' and pid <> pg_backend_pid()
      `.execute(observer.reader);
    // The pool has one connection.
    await eventually('its connection is held', async () => {
      const { rows } = await sql`
        select from pg_stat_activity where state = 'active' and query = 'select pg_sleep(600) as held'
      `.execute(observer.reader);
      return rows.length > 0;
    });
    const refused = sql`select 1`.execute(patient).catch((error: unknown) => error);
    // The caller stops waiting before the limits of its connection, which is made later.
    jest.advanceTimersByTime(1);
    way.answerAt((asked) => {
      if (!asked.includes('pg_backend_pid')) {
        return undefined;
      }
      jest.advanceTimersByTime(PATIENT.connectMs - 1);
      return refused;
    });
    await end();
    await held;
    expect(await refused).toMatchObject({ internal: expect.stringMatching(/^timeout exceeded/) });
    expect((await sql`select 2 as two`.execute(patient)).rows).toEqual([{ two: 2 }]);
  } finally {
    jest.useRealTimers();
    way.close();
    await close();
    await observer.close();
  }
});

test('a migration may take longer than any other statement', async () => {
  const { url } = await newPostgresDatabase();
  const database = await openPostgres(url, () => undefined, SHORT);
  try {
    const slow = sql`select pg_sleep(0.3)`;
    await expect(slow.execute(database.reader)).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
    await slow.execute(database.patient);
    const limits = await sql`show lock_timeout`.execute(database.patient);
    expect(limits.rows).toEqual([{ lock_timeout: '2s' }]);
  } finally {
    await database.close();
  }
});

test('a migration that waits for a PostgreSQL that has fallen silent ends, and may be tried again', async () => {
  const { url } = await newPostgresDatabase();
  const way = await stallingProxy(url);
  // A busy server that answers within four times as long is not silent.
  const database = await openPostgres(way.url, () => undefined, { ...SHORT, askMs: 1_500 });
  const observer = await openPostgres(url, () => undefined, PATIENT);
  try {
    const migration = sql`select pg_sleep(50) as migration`.execute(database.patient);
    const refusal = migration.catch((error: unknown) => error);
    await eventually('a migration that runs', async () => {
      const { rows } = await sql`
        select from pg_stat_activity where state = 'active' and query = 'select pg_sleep(50) as migration'
      `.execute(observer.reader);
      return rows.length > 0;
    });
    way.freeze();
    expect(await refusal).toMatchObject({ code: ErrorCode.UNAVAILABLE });
    expect(mayPass(await refusal)).toBe(true);
  } finally {
    way.close();
    await database.close();
    await observer.close();
  }
});

test('a statement without a time limit is waited for as long as the server answers others', async () => {
  const { told: waiting, tell: answer } = signalled<string>();
  let asked = 0;
  const patience = whileAlive(async () => {
    asked += 1;
    if (asked === 20) {
      answer('after a long time');
    }
    // Overloaded, and now and then not to be reached.
    throw asNoConnection(
      asked % 3 === 0
        ? new pg.DatabaseError('sorry, too many clients already', 1, 'error')
        : new Error('The connection is lost.'),
    );
  }, 1);
  expect(await patience(waiting)).toBe('after a long time');
});

test('a database that is being closed does not wait for a long statement', async () => {
  const { url } = await newPostgresDatabase();
  const database = await openPostgres(url, () => undefined, PATIENT);
  const sleeping = sql`select pg_sleep(600) as slept`.execute(database.patient).catch((error) => error);
  await eventually('the statement runs', async () => {
    const { rows } =
      await sql`select from pg_stat_activity where query like '%pg_sleep(600) as slept%' and pid <> pg_backend_pid()`.execute(
        database.reader,
      );
    return rows.length > 0;
  });
  await database.close();
  expect(await sleeping).toMatchObject({ message: 'the database is being closed' });
});

test.each([
  { severity: 'ERROR', code: '23505', goesOn: true },
  { severity: 'FATAL', code: '57P01', goesOn: false },
  // As from a server with Russian messages.
  { severity: 'ВАЖНО', code: '57P01', goesOn: false },
  { severity: 'ОШИБКА', code: '55P03', goesOn: true },
])('a connection continues after $severity $code: $goesOn', ({ goesOn, ...said }) => {
  const error = Object.assign(new pg.DatabaseError('said by the server', 1, 'error'), said);
  expect(isServerRefusal(error)).toBe(goesOn);
});

test.each<[string, (database: Database) => Promise<unknown>]>([
  ['a write', ({ write }) => write((writer) => sql`create table kept (id int)`.execute(writer))],
  ['the trial write', ({ tryWrite }) => tryWrite()],
  ['a long statement', ({ patient }) => sql`create table kept (id int)`.execute(patient)],
])('after a fail-over %s keeps no connection to a server that only reads', async (_, change) => {
  const { url, drop } = await newMigratedPostgresDatabase();
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const name = new URL(url).pathname.slice(1);
  // As a standby would, behind an address that moves to the new primary a moment later.
  await admin.query(`alter database ${name} set default_transaction_read_only = on`);
  const database = await openPostgres(url, () => undefined, PATIENT);
  try {
    await expect(change(database)).rejects.toMatchObject({
      code: ErrorCode.UNAVAILABLE,
      internal: expect.stringContaining('25006'),
    });
    await admin.query('set default_transaction_read_only = off');
    await admin.query(`alter database ${name} reset default_transaction_read_only`);
    await change(database);
  } finally {
    await admin.end();
    await database.close();
    await drop();
  }
});

test('reads without a pause leave a server that only reads, too', async () => {
  const { url, drop } = await newPostgresDatabase();
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const name = new URL(url).pathname.slice(1);
  await admin.query(`alter database ${name} set default_transaction_read_only = on`);
  const database = await openPostgres(url, () => undefined, { ...PATIENT, connectionKeptMs: 100 });
  const isStandby = async () => {
    const { rows } = await sql<{ only: string }>`
      select current_setting('transaction_read_only') as only
    `.execute(database.reader);
    return rows[0]?.only === 'on';
  };
  try {
    expect(await isStandby()).toBe(true);
    await admin.query('set default_transaction_read_only = off');
    await admin.query(`alter database ${name} reset default_transaction_read_only`);
    await eventually('a read from the new primary', async () => !(await isStandby()));
  } finally {
    await admin.end();
    await database.close();
    await drop();
  }
});
