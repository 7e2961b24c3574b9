import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import { openPostgres } from '../../../../src/store/dialects/postgres/postgres.js';
import { databaseUnderTest, PATIENT as PATIENT_LIMITS } from '../../../support/databases.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../../../support/eventually.js';
import { PATIENT, SWEEP_PAUSE_MS, sendingNode } from '../../adapters/webhooks/sending/rig.js';
import { newConnection } from '../../adapters/webhooks/subscriptions/rig.js';

const LOCK = 7;
const UNLIMITED = {
  ...PATIENT_LIMITS,
  server: { lockMs: 0, statementMs: 0, idleMs: 0 },
  answerMs: LONGER_THAN_A_TEST_MS,
};
const REQUEST = { freeSlots: 9, totalSlots: 9, maxRunningPerSubscription: 9, maxWaitMs: 0 };

const under = databaseUnderTest('PostgreSQL');

test('the database closes while a sweep of lapsed attempts searches, which then ends silently', async () => {
  const place = await under.newPlace();
  const migrated = await under.openMigrated(place);
  const url = place.databaseUrl as string;
  const database = await openPostgres(url, () => undefined, UNLIMITED);
  const rig = sendingNode(database, await newConnection(migrated));
  await rig.claim();
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query('select pg_advisory_lock($1)', [LOCK]);
  let search: Promise<unknown> = Promise.resolve();
  rig.dependencies.unitOfWork.rows.anyLapsed = () => {
    const found = sql`select pg_advisory_xact_lock(${LOCK})`.execute(database.reader).then(() => false);
    search = found;
    return found;
  };
  rig.clock.advance(SWEEP_PAUSE_MS);
  await rig.claims.claim(REQUEST, PATIENT);
  await eventually('a search that runs', async () => {
    const { rows } = await holder.query("select from pg_locks where locktype = 'advisory' and not granted");
    return rows.length > 0;
  });
  rig.deliveriesDue.close();
  await database.close();
  await expect(search).rejects.toThrow('The service cannot reach its data');
  expect(await rig.claims.swept()).toBe(false);
  expect(rig.unswept).toEqual([]);
  await holder.end();
});
