import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import type { Check } from '../../../src/store/checks/check.js';
import { objectsAreOurs, refuseForeignTriggers } from '../../../src/store/checks/foreign-objects.js';
import {
  deliveriesAreOnTime,
  noCredentialExpiresSoon,
  purgeKeepsUp,
} from '../../../src/store/checks/in-time.js';
import { pagesAreSound } from '../../../src/store/checks/integrity.js';
import {
  clocksAgree,
  indexesAreValid,
  locksAreFree,
  noTransactionIsIdle,
} from '../../../src/store/checks/postgres-activity.js';
import {
  issuerIsAccepted,
  keyFileFits,
  migrationsAreOurs,
  nodesAgree,
} from '../../../src/store/checks/settings.js';
import type { Database } from '../../../src/store/database.js';
import { databaseUnderTest, describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { plantSilentTrigger } from '../../support/planted-triggers.js';
import { spoilTable } from '../../support/sqlite/spoilt-table.js';
import { sendingNode } from '../adapters/webhooks/sending/rig.js';
import { newConnection } from '../adapters/webhooks/subscriptions/rig.js';

const DAY_MS = 86_400_000;

function examplesOf<Settings>(check: Check<Settings>, database: Database, settings: Settings) {
  return check.find(database.reader, settings).then(({ examples }) => examples);
}

async function run(database: Database, ...statements: string[]): Promise<void> {
  for (const statement of statements) {
    await database.write((writer) => sql.raw(statement).execute(writer));
  }
}

describeEachDatabase('a check of the state of a database', (under) => {
  test('names missing migrations, and newer ones that this version must know', async () => {
    const database = await under.openMigrated();
    expect(await examplesOf(migrationsAreOurs, database, {})).toEqual([]);
    await run(database, "update kysely_migration set name = '9999-later' where name = '0026-issuers'");
    expect(await examplesOf(migrationsAreOurs, database, {})).toEqual([
      'the database lacks 0026-issuers',
      'this version does not know 9999-later',
    ]);
  });

  test('names triggers that the service did not make, and a trigger that is missing', async () => {
    const database = await under.openMigrated();
    expect(await examplesOf(objectsAreOurs, database, {})).toEqual([]);
    await expect(refuseForeignTriggers(database.reader)).resolves.toBeUndefined();
    // Tables of other programs, such as Litestream.
    await run(database, 'create table _litestream_seq (id integer primary key, seq integer)');
    await run(database, 'create view all_keys as select id from api_keys');
    expect(await examplesOf(objectsAreOurs, database, {})).toEqual([]);
    await expect(refuseForeignTriggers(database.reader)).resolves.toBeUndefined();
    await plantSilentTrigger(database, under.kind, { table: 'api_keys', event: 'update' });
    const ours = `changes_unit_renamed${under.kind === 'SQLite' ? '' : ' on units'}`;
    await run(database, `drop trigger ${ours}`);
    expect(await examplesOf(objectsAreOurs, database, {})).toEqual([
      'the trigger hush of api_keys is not of this service',
      'the trigger changes_unit_renamed of units is missing',
    ]);
    await expect(refuseForeignTriggers(database.reader)).rejects.toThrow(
      /^The backup has the trigger hush of api_keys, which this service did not make: /,
    );
  });

  test('compares no triggers with those of a newer version', async () => {
    const database = await under.openMigrated();
    await run(database, "insert into kysely_migration (name, timestamp) values ('9999-later', 'now')");
    await plantSilentTrigger(database, under.kind, { table: 'api_keys', event: 'update' });
    expect(await objectsAreOurs.find(database.reader, {})).toMatchObject({
      ...{ count: 0, detail: 'Not compared: a newer version has migrated the database.' },
    });
  });

  test('finds nothing in newer migrations that this version can serve, and names them', async () => {
    const database = await under.openMigrated();
    await run(database, "insert into kysely_migration (name, timestamp) values ('9999-later', 'now')");
    const found = await migrationsAreOurs.find(database.reader, {});
    expect(found).toEqual({ count: 0, examples: [], detail: 'A newer version has added 9999-later.' });
  });

  test('names another issuer and another environment', async () => {
    const database = await under.openMigrated();
    const [issuer, other] = ['https://id.example.com', 'https://login.example.com'];
    const settings = { issuer: { issuer }, environment: 'live' } as const;
    expect(await examplesOf(issuerIsAccepted, database, settings)).toEqual([]);
    await run(
      database,
      `insert into environment (only_row, name, created_at, issuer) values (1, 'demo', 1, '${other}')`,
    );
    expect(await examplesOf(issuerIsAccepted, database, settings)).toEqual([
      'the database belongs to demo, and ENVIRONMENT is live',
      expect.stringContaining(`belongs to the issuer ${other}`),
    ]);
  });

  test('says of another issuer that may be replaced that it is, not that both are equal', async () => {
    const database = await under.openMigrated();
    const settings = { issuer: { issuer: 'http://127.0.0.1:4100' }, environment: 'live' } as const;
    const found = () => issuerIsAccepted.find(database.reader, settings);
    expect(await found()).toMatchObject({ count: 0, detail: 'No start has recorded an issuer yet.' });
    await run(
      database,
      "insert into environment (only_row, name, created_at, issuer) values (1, 'live', 1, 'http://localhost:4000')",
    );
    expect(await found()).toMatchObject({
      count: 0,
      detail: 'Recorded: http://localhost:4000; the next start records http://127.0.0.1:4100 instead.',
    });
    await run(database, `update environment set issuer = '${settings.issuer.issuer}'`);
    expect(await found()).toMatchObject({ count: 0, detail: 'Recorded: http://127.0.0.1:4100.' });
    expect(issuerIsAccepted.about).toContain('or may replace it');
  });

  test('names the keys that the key file lacks, and nodes that differ', async () => {
    const database = await under.openMigrated();
    const [issuer, other] = ['https://id.example.com', 'https://login.example.com'];
    await run(database, "insert into encryption_keys (id, position, activated_at) values ('ek_1', 1, 1)");
    for (const [node, keys, of] of [
      ['same', 'ek_1', issuer],
      ['keyless', 'ek_0', issuer],
      ['other', 'ek_1', other],
    ]) {
      await run(
        database,
        `insert into encryption_key_holders (node, key_ids, issuer, seen_at)
          values ('${node}', '["${keys}"]', '${of}', ${Date.now()})`,
      );
    }
    const settings = { keyIds: ['ek_1'], ownIssuer: issuer };
    expect(await examplesOf(keyFileFits, database, settings)).toEqual([]);
    expect(await examplesOf(keyFileFits, database, { ...settings, keyIds: ['ek_0'] })).toEqual([
      'the key file lacks ek_1',
    ]);
    await run(
      database,
      `insert into audit_events (id, chain, seq, type, outcome, actor_type, actor_id, subject_type, subject_id, attributes, created_at)
        values ('aud_1', 'chain', 1, 't', 'succeeded', 'a', 'a', 's', 's', '{}', 1)`,
    );
    expect(await examplesOf(keyFileFits, database, settings)).toEqual([
      'the table token_keys lacks the key of the audit log (purpose audit)',
    ]);
    expect(await examplesOf(nodesAgree, database, settings)).toEqual([
      'keyless lacks the key ek_1',
      `other has the issuer ${other}, and SIGN_ON_URL is ${issuer}`,
    ]);
  });

  test('names keys, tokens and secrets in use that expire soon', async () => {
    const database = await under.openMigrated();
    const now = Date.now();
    const rows = [
      ['soon', now + DAY_MS, null, now],
      ['unused', now + DAY_MS, null, now - 30 * DAY_MS],
      ['later', now + 60 * DAY_MS, null, now],
      ['revoked', now + DAY_MS, now, now],
    ];
    for (const [id, expires, revoked, used] of rows) {
      await run(
        database,
        `insert into service_tokens (id, kind, hash, label, created_at, expires_at, revoked_at, last_used_at)
          values ('${id}', 'operator', '${id}', 'Back office', 1, ${expires}, ${revoked}, ${used})`,
      );
    }
    expect(await examplesOf(noCredentialExpiresSoon, database, { now })).toEqual([
      expect.stringMatching(/^service token soon \(Back office\) expires 20/),
    ]);
  });

  test('names what the purge should have removed long ago', async () => {
    const database = await under.openMigrated();
    const now = Date.now();
    const retention = {
      ...{ credentialsMs: DAY_MS, sessionIdleMs: DAY_MS, idempotencyMs: DAY_MS },
      ...{ auditMs: DAY_MS, eventsMs: DAY_MS },
    };
    const settings = { now, retention, purgeEveryMs: 3_600_000 };
    const add = (key: string, createdAt: number) =>
      run(
        database,
        `insert into idempotency_keys (owner_id, method, key, request_hash, response, created_at)
          values ('tok', '/M', '${key}', 'h', '', ${createdAt})`,
      );
    await add('kept', now - DAY_MS / 2);
    await add('due', now - DAY_MS - 3_600_000);
    expect(await purgeKeepsUp.find(database.reader, settings)).toEqual({
      ...{ count: 0, examples: [], detail: 'The greatest delay is 60 min.' },
    });
    await add('late', now - 3 * DAY_MS);
    expect(await examplesOf(purgeKeepsUp, database, settings)).toEqual([
      'the oldest idempotency key should have been removed 2 d ago',
    ]);
  });

  test('tells how long the oldest delivery waits', async () => {
    const database = await under.openMigrated();
    const node = sendingNode(database, await newConnection(database, { updated_at: 1 }));
    await node.subscribe();
    expect(await deliveriesAreOnTime.find(database.reader, { now: node.clock.now() })).toEqual({
      ...{ count: 0, examples: [], detail: 'None waits.' },
    });
    await node.happen();
    const now = node.clock.now();
    expect(await examplesOf(deliveriesAreOnTime, database, { now: now + 60_000 })).toEqual([]);
    expect(await examplesOf(deliveriesAreOnTime, database, { now: now + DAY_MS })).toEqual([
      'the oldest delivery without an attempt is 24 h old',
    ]);
  });
});

test('the check of the file finds rows whose reference is missing', async () => {
  const database = await sqlite.openMigrated();
  const settings = { databaseBytes: 1 };
  expect(await examplesOf(pagesAreSound, database, settings)).toEqual([]);
  await sql.raw('pragma foreign_keys = off').execute(database.patient);
  await sql
    .raw("insert into passwords (account_id, hash, set_at) values ('acc_none', 'h', 1)")
    .execute(database.patient);
  expect(await examplesOf(pagesAreSound, database, settings)).toEqual([
    'a row of passwords refers to a missing row of accounts',
  ]);
});

test('the check of the file finds a damaged page', async () => {
  const place = await sqlite.newPlace();
  spoilTable(join(place.dataDir, 'integration.db'), 'passwords');
  const database = await sqlite.open(place);
  const found = await examplesOf(pagesAreSound, database, { databaseBytes: 1 });
  expect(found).toEqual(['The database is damaged: database disk image is malformed.']);
});

const sqlite = databaseUnderTest('SQLite');
const postgres = databaseUnderTest('PostgreSQL');

/** Two consoles: one holds a lock in an open transaction, the other waits for it. */
async function withConsoles(work: (database: Database, pids: number[]) => Promise<void>): Promise<void> {
  const place = await postgres.newPlace();
  const database = await postgres.open(place);
  const consoles = [1, 2].map(
    (number) => new pg.Client({ connectionString: place.databaseUrl, application_name: `console-${number}` }),
  );
  const [holder, waiter] = consoles as [pg.Client, pg.Client];
  try {
    await Promise.all(consoles.map((each) => each.connect()));
    const pids = await Promise.all(
      consoles.map(async (each) => Number((await each.query('select pg_backend_pid() as pid')).rows[0].pid)),
    );
    await holder.query('begin; lock table accounts in access exclusive mode');
    const waiting = waiter
      .query('begin; lock table accounts in access exclusive mode')
      .catch(() => undefined);
    await work(database, pids);
    await holder.query('rollback');
    await waiting;
  } finally {
    await Promise.all(consoles.map((each) => each.end()));
  }
}

test('the checks of PostgreSQL name who waits for a lock, who blocks it, and what is idle in a transaction', async () => {
  await withConsoles(async (database, [holder, waiter]) => {
    const waits = () => examplesOf(locksAreFree, database, { longMs: 0 });
    await eventually('the wait', async () => (await waits()).length > 0);
    expect(await waits()).toEqual([
      expect.stringMatching(
        `^process ${waiter} \\(console-2\\) began .* ago and waits for a lock; blocked by ${holder}$`,
      ),
    ]);
    expect(await examplesOf(noTransactionIsIdle, database, { longMs: 0 })).toEqual([
      expect.stringMatching(`^process ${holder} \\(console-1\\) is idle in a transaction for `),
    ]);
    expect(await examplesOf(locksAreFree, database, { longMs: 3_600_000 })).toEqual([]);
    expect(await examplesOf(noTransactionIsIdle, database, { longMs: 3_600_000 })).toEqual([]);
  });
});

test('on PostgreSQL, rules and a trigger with a name of ours on another table are foreign; extensions and other schemas are not', async () => {
  const database = await postgres.openMigrated();
  await run(
    database,
    'create schema reports',
    'create view reports.all_keys as select id from public.api_keys',
    'create view monitored as select id from api_keys',
    'create rule counted as on insert to monitored do instead nothing',
    'alter extension plpgsql add view monitored',
    'create rule keep as on update to api_keys do instead nothing',
  );
  const renamed = { table: 'api_keys', event: 'insert' } as const;
  await plantSilentTrigger(database, 'PostgreSQL', renamed, 'changes_of_key');
  await run(database, 'alter trigger changes_of_key on api_keys rename to changes_counted');
  expect(await examplesOf(objectsAreOurs, database, {})).toEqual([
    'the rule keep of api_keys is not of this service',
    'the trigger changes_counted of api_keys is not of this service',
  ]);
  await expect(refuseForeignTriggers(database.reader)).rejects.toThrow(
    'the rule keep of api_keys, the trigger changes_counted of api_keys, which',
  );
});

test('on PostgreSQL, the check of triggers names those that are disabled', async () => {
  const database = await postgres.openMigrated();
  await run(
    database,
    'alter table users disable trigger changes_user_changed',
    'alter table workers enable replica trigger changes_worker_changed',
    'alter table units enable always trigger changes_unit_changed',
  );
  expect(await examplesOf(objectsAreOurs, database, {})).toEqual([
    'the trigger changes_user_changed of users is disabled',
    'the trigger changes_worker_changed of workers is disabled',
  ]);
});

test('the check of PostgreSQL names invalid indexes, and tells how far the clocks are apart', async () => {
  const database = await postgres.openMigrated();
  expect(await examplesOf(indexesAreValid, database, {})).toEqual([]);
  expect(await examplesOf(clocksAgree, database, {})).toEqual([]);
  expect(await examplesOf(clocksAgree, database, { clock: () => Date.now() - 3_600_000 })).toEqual([
    'this machine is 60 min behind the database',
  ]);
  expect(await examplesOf(clocksAgree, database, { clock: () => Date.now() + 3_600_000 })).toEqual([
    'this machine is 60 min ahead of the database',
  ]);
  await run(
    database,
    "update pg_index set indisvalid = false where indexrelid = 'users_by_account'::regclass",
  );
  expect(await examplesOf(indexesAreValid, database, {})).toEqual(['users_by_account of users is not valid']);
});
