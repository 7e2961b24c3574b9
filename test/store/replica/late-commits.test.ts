import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import { callCounts } from '../../../src/store/adapters/call-counts.js';
import { sealStore } from '../../../src/store/adapters/seals.js';
import type { Database } from '../../../src/store/database.js';
import { sendBehindCommit } from '../../../src/store/dialects/direct-statements.js';
import { openPostgres } from '../../../src/store/dialects/postgres/postgres.js';
import { placeForPair } from '../../chaos/promotion/pair.js';
import { PATIENT } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { serviceProcesses } from '../../support/service-process.js';

/** As many as the pool of writes has. */
const CONNECTIONS = 12;
/** A connection may be waited for longer than the answer to a commit. */
const LIMITS = { ...PATIENT, answerMs: 5_000, connectMs: 8_000 };
const UNKNOWN = 'The service does not know whether the change was made.';
const AWAY = 'The service cannot reach its data at the moment.';

const CALL_COUNTS = `create table if not exists call_counts
  (subject text primary key, started_at bigint, ends_at bigint, used bigint)`;

const HOLDERS = `
  create table if not exists data_versions (subject_id text primary key, version text);
  create table if not exists required_migrations (name text primary key);
  create table if not exists encryption_key_holders
    (node text primary key, key_ids text, used_id text, issuer text, newest_migration text, seen_at bigint)`;

const services = serviceProcesses();
const place = placeForPair();
let url: string;
let admin: pg.Client;

beforeAll(async () => {
  place.postgres.make();
  await place.start(place.postgres.primary());
  await place.postgres.prepare();
  url = place.postgres.urlAt(place.host('primary'));
  admin = new pg.Client({ connectionString: place.postgres.adminUrl });
  await admin.connect();
});

afterAll(async () => {
  await admin?.end();
  await place.stop();
});

async function waiting(): Promise<number[]> {
  const { rows } = await admin.query<{ pid: number }>(
    "select pid from pg_stat_activity where wait_event = 'SyncRep' order by pid",
  );
  return rows.map(({ pid }) => pid);
}

const manyWait = (count: number) =>
  eventually(`${count} commits that wait`, async () => (await waiting()).length === count);

/** While the body runs, no replica confirms commits: one by another client waits from the beginning. */
async function withoutReplica(body: (database: Database) => Promise<void>): Promise<void> {
  const database = await openPostgres(url, () => undefined, LIMITS);
  const other = new pg.Client({ connectionString: url });
  other.on('error', () => undefined);
  await other.connect();
  try {
    await other.query('drop table if exists marks; create table marks (id serial)');
    await other.query('create table if not exists environment as select 1::bigint as created_at');
    await other.query(CALL_COUNTS);
    await other.query(HOLDERS);
    await admin.query("alter system set synchronous_standby_names = 'ANY 1 (none)'");
    await admin.query('select pg_reload_conf()');
    // The server applies it a moment later.
    await eventually('a commit that waits', async () => {
      let isOver = false;
      other.query('insert into marks default values').then(
        () => {
          isOver = true;
        },
        () => undefined,
      );
      await eventually('its end or its wait', async () => isOver || (await waiting()).length === 1);
      return !isOver;
    });
    await body(database);
  } finally {
    await confirmed();
    await database.close();
    await other.end();
  }
}

/** No commit waits for a replica any more. */
async function confirmed(): Promise<void> {
  await admin.query('alter system reset synchronous_standby_names');
  await admin.query('select pg_reload_conf()');
  await manyWait(0);
}

const write = ({ write }: Database) =>
  write(async (writer) => {
    await sendBehindCommit(writer, () => ({ text: 'select', onFailed: () => undefined }));
    await sql`insert into marks default values`.execute(writer);
  });

/** How many writes ended in each way, and what they said. */
async function outcomes(database: Database, count: number) {
  const ends = await Promise.allSettled(Array.from({ length: count }, () => write(database)));
  const messages = ends.map((end) => (end.status === 'rejected' ? String(end.reason.message) : 'committed'));
  const starting = (start: string) => messages.filter((message) => message.startsWith(start)).length;
  return { unknown: starting(UNKNOWN), away: starting(AWAY), committed: starting('committed') };
}

async function marks({ reader }: Database): Promise<number> {
  const { rows } = await sql`select from marks`.execute(reader);
  return rows.length;
}

test('commits that no replica confirms keep their connections, and their processes are no more than those', () =>
  withoutReplica(async (database) => {
    const before = await marks(database);
    expect(await outcomes(database, CONNECTIONS)).toEqual({ unknown: CONNECTIONS, away: 0, committed: 0 });
    expect(await outcomes(database, CONNECTIONS)).toEqual({ unknown: 0, away: CONNECTIONS, committed: 0 });
    expect(await waiting()).toHaveLength(1 + CONNECTIONS);
    expect(await marks(database)).toBe(before);
    // Otherwise the domain would not be ready, and proxies would refuse reads too.
    await database.tryWrite();
    const counts = callCounts(database);
    await counts?.add([{ subject: 'itg_1', ageMs: 0, windowMs: 1, added: 1 }]);
    await counts?.forgetOver();
    expect(await waiting()).toHaveLength(1 + CONNECTIONS);
    await confirmed();
    expect(await outcomes(database, CONNECTIONS)).toEqual({ unknown: 0, away: 0, committed: CONNECTIONS });
    expect(await marks(database)).toBe(before + 1 + 2 * CONNECTIONS);
  }));

test('a connection that ends while its commit is late leaves its place to another', () =>
  withoutReplica(async (database) => {
    await outcomes(database, CONNECTIONS);
    const late = await waiting();
    await admin.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [late]);
    await manyWait(0);
    expect(await outcomes(database, CONNECTIONS)).toMatchObject({ unknown: CONNECTIONS });
    expect(await waiting()).toHaveLength(CONNECTIONS);
  }));

test('the database closes while commits are late, and others become so', () =>
  withoutReplica(async (database) => {
    expect(await outcomes(database, 2)).toMatchObject({ unknown: 2 });
    const later = outcomes(database, 1);
    await manyWait(1 + 3);
    await database.close();
    expect(await later).toMatchObject({ unknown: 1 });
    expect(await waiting()).toHaveLength(1 + 3);
  }));

test('a domain starts and is ready', async () => {
  const ofDomain = Object.assign(new URL(url), { pathname: '/of_domain' });
  await admin.query(`create database of_domain owner ${ofDomain.username}`);
  const env = { DATABASE_URL: ofDomain.href };
  const first = await services.start({ command: 'domain', env });
  await first.stop();
  await withoutReplica(async () => {
    const second = await services.start({ command: 'domain', env: first.settings });
    // Its writes, such as the first anchor of the audit log, would be late in the next test.
    second.killGroup();
    await second.exited;
  });
});

test('a node announces itself, as each start does, and leaves', () =>
  withoutReplica(async (database) => {
    const seals = sealStore(database);
    for (const usedId of [null, 'ek_1']) {
      await seals.announce({ node: 'one', keyIds: [], usedId, issuer: null });
    }
    await seals.leave('one');
    expect(await waiting()).toHaveLength(1);
  }));
