import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { inDatabase } from '../../../src/cli/commands/copies/own-database.js';
import { changedInstances } from '../../../src/domain/directory/changed-instances.js';
import { createClient } from '../../../src/domain/platform/organization/clients.js';
import { createInstance } from '../../../src/domain/platform/organization/instances.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import { changeStore } from '../../../src/store/adapters/changes.js';
import { beginLifeAfterUnclosedFile, expireCursors } from '../../../src/store/adapters/lives.js';
import { auditRows } from '../../../src/store/adapters/operator/audit-events.js';
import { platformUnitOfWork } from '../../../src/store/adapters/platform/unit-of-work.js';
import { recordBackup } from '../../../src/store/copies/take-copy.js';
import { DATABASE_FILE } from '../../../src/store/data-directory.js';
import type { Database } from '../../../src/store/database.js';
import { listsOf, mirrorOf, resourcesIn } from '../../support/changes/mirror.js';
import { newInstance } from '../../support/changes/new-instance.js';
import { writeAtRandom } from '../../support/changes/random-writes.js';
import { type DatabaseUnderTest, databaseUnderTest, describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { randomFrom } from '../../support/random-from.js';
import { signalled } from '../../support/signalled.js';

const OPERATOR = { type: 'command', id: 'expire-cursors' };

async function followed(under: DatabaseUnderTest) {
  const { database, platform, instanceId } = await newInstance(under);
  const write = (seed: number) =>
    writeAtRandom(database, platform, { instanceId, times: 30, random: randomFrom(seed) });
  await write(1);
  const mirror = mirrorOf(database, instanceId);
  await mirror.follow();
  return { database, platform, instanceId, mirror, write, life: mirror.place.life };
}

const expired = (database: Database) =>
  auditRows(database.reader).page({ after: undefined, limit: 10 }, { types: ['changes.cursors_expired'] });

describeEachDatabase('an operator who expires the cursors', (under) => {
  test('ends those of readers who have read what is not there, and is on record', async () => {
    const { database, instanceId, mirror, write, life } = await followed(under);
    const before = mirror.cursor;
    await database.write((writer) => expireCursors(writer, 1, OPERATOR, 'the operator'));
    await write(2);
    mirror.goOnFrom(before);
    await expect(mirror.follow()).rejects.toMatchObject({ code: ErrorCode.CURSOR_EXPIRED });
    const reader = mirrorOf(database, instanceId);
    await reader.follow();
    expect(reader.place.life).not.toBe(life);
    expect(resourcesIn(reader)).toEqual(await listsOf(database, instanceId));
    expect(await expired(database)).toMatchObject([
      { actor: OPERATOR, attributes: { reason: 'the operator' } },
    ]);
  });

  test('goes on with cursors of the new life', async () => {
    const { database, mirror, write } = await followed(under);
    await database.write((writer) => expireCursors(writer, 1, OPERATOR, 'the operator'));
    mirror.goOnFrom(undefined);
    await mirror.follow();
    const life = mirror.place.life;
    await write(3);
    expect(await mirror.follow()).not.toEqual([]);
    expect(mirror.place.life).toBe(life);
  });
});

describe('a life on SQLite', () => {
  const under = databaseUnderTest('SQLite');

  test.each<[string, (dataDir: string) => Promise<unknown>]>([
    ['', async () => undefined],
    [
      ', also if a command opened the file before the service',
      (dataDir) => inDatabase({ dataDir }, (opened) => recordBackup(opened, OPERATOR, 'it')),
    ],
    [
      ', also if a start was refused before',
      (dataDir) =>
        expect(under.openStore({ dataDir }, 'live', { alone: true })).rejects.toThrow('belongs to the demo'),
    ],
  ])('ends when the last commits were undone, for those who had read them%s', async (_, meanwhile) => {
    const place = await under.newPlace();
    await (await under.openStore(place, 'demo')).close();
    const database = await under.open(place);
    const platform = platformUnitOfWork(database);
    const { id: instanceId } = await platform.run((changes) =>
      createInstance(changes, { name: 'Harborlight' }),
    );
    const write = (on: Database, seed: number) =>
      writeAtRandom(on, platformUnitOfWork(on), { instanceId, times: 30, random: randomFrom(seed) });
    await write(database, 1);
    const integration = newPublicId('InstanceIntegrationId');
    const careful = mirrorOf(database, instanceId, integration);
    await careful.follow();
    // As the disk has it when a power failure undoes what follows.
    const { dataDir } = await under.newEmptyPlace();
    mkdirSync(dataDir, { recursive: true });
    for (const end of ['', '-wal']) {
      copyFileSync(join(place.dataDir, `${DATABASE_FILE}${end}`), join(dataDir, `${DATABASE_FILE}${end}`));
    }
    await write(database, 2);
    const early = mirrorOf(database, instanceId, integration);
    await early.follow();

    await meanwhile(dataDir);
    const store = await under.openStore({ dataDir }, 'demo', { alone: true });
    const recovered = await under.open({ dataDir });
    await write(recovered, 3);
    const reader = mirrorOf(recovered, instanceId, integration);
    reader.goOnFrom(early.cursor);
    await expect(reader.follow()).rejects.toMatchObject({ code: ErrorCode.CURSOR_EXPIRED });
    reader.goOnFrom(careful.cursor);
    expect(await reader.follow()).not.toEqual([]);
    expect((await store.changes.lives()).lives).toHaveLength(2);
  });

  test('goes on when the file was closed, and of many that were cut the newest hundred stay', async () => {
    const place = await under.newPlace();
    await (await under.openStore(place, 'demo', { alone: true })).close();
    const store = await under.openStore(place, 'demo', { alone: true });
    expect((await store.changes.lives()).lives).toHaveLength(1);
    const database = await under.open(place);
    for (let start = 0; start < 105; start += 1) {
      await database.write(beginLifeAfterUnclosedFile);
    }
    const { lives } = await store.changes.lives();
    expect(lives).toHaveLength(100);
    expect(lives.filter(({ lastPosition }) => lastPosition === null)).toHaveLength(1);
  });
});

describe('a life on PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');
  const beganIn = (database: Database, historyOf: (present: string) => string | null) =>
    database.write(async (writer) => {
      const present = writer.selectFrom('change_lives').where('last_position', 'is', null).select('history');
      const { history } = await present.executeTakeFirstOrThrow();
      await writer
        .updateTable('change_lives')
        .set({ history: historyOf(String(history)) })
        .where('last_position', 'is', null)
        .execute();
    });

  test.each<[string, (present: string) => string | null]>([
    ['another server', (present) => present.replace(/^\d+/, '7')],
    ['another timeline', (present) => present.replace(/\w+$/, '00000009')],
    ['a server that is not known', () => null],
  ])('that began on %s ends once, for all readers', async (_, historyOf) => {
    const { database, instanceId, mirror, life } = await followed(under);
    await beganIn(database, historyOf);
    const readers = Array.from({ length: 5 }, () => changeStore(database).lives());
    const presents = (await Promise.all(readers)).map(({ lives }) =>
      lives.find(({ lastPosition }) => lastPosition === null),
    );
    expect(new Set(presents.map((present) => present?.life)).size).toBe(1);
    expect((await changeStore(database).lives()).lives).toHaveLength(2);
    await expect(mirror.follow()).rejects.toMatchObject({ code: ErrorCode.CURSOR_EXPIRED });
    const anew = mirrorOf(database, instanceId);
    await anew.follow();
    expect(anew.place.life).not.toBe(life);
    expect(resourcesIn(anew)).toEqual(await listsOf(database, instanceId));
    expect(await expired(database)).toMatchObject([
      {
        actor: { type: 'service', id: 'domain' },
        attributes: { reason: 'another server or timeline of PostgreSQL' },
      },
    ]);
  });

  /** Replaces a function of PostgreSQL for the one that asks for its history. */
  const replacing = (database: Database, signature: string, body: string) =>
    database.write(async (writer) => {
      await sql
        .raw(`create function public.${signature} language plpgsql as $$ begin ${body}; end $$`)
        .execute(writer);
      await sql`alter function server_history() set search_path = public, pg_catalog`.execute(writer);
    });

  test.each(['55000', '42501', '0A000', '42883'])(
    'goes on where the server refuses to tell about itself with %s',
    async (code) => {
      const { database, instanceId, write } = await followed(under);
      const refuses = `raise exception 'not here' using errcode = '${code}'`;
      for (const refused of [
        'pg_current_wal_lsn() returns pg_lsn',
        'pg_control_system(out system_identifier bigint)',
      ]) {
        await replacing(database, refused, refuses);
        const mirror = mirrorOf(database, instanceId);
        await mirror.follow();
        const life = mirror.place.life;
        await write(4);
        expect(await mirror.follow()).not.toEqual([]);
        expect(mirror.place.life).toBe(life);
      }
      // Once for each thing that it ceased to tell.
      expect(await expired(database)).toHaveLength(2);
    },
  );

  test('that begins behind greater positions waits for the writes under way, and skips none', async () => {
    const { database, instanceId, platform } = await followed(under);
    await sql`update change_feed set xid_offset = 1 - pg_current_xact_id()::text::bigint`.execute(
      database.reader,
    );
    await beganIn(database, () => null);
    const [begun, finish] = [signalled(), signalled()];
    const early = platform.run(async (changes) => {
      await createClient(changes, { instanceId, name: 'Early' });
      begun.tell();
      await finish.told;
    });
    await begun.told;
    const reader = mirrorOf(database, instanceId);
    const reading = reader.step(1_000);
    const waits = sql`
      select from pg_locks join pg_database on database = pg_database.oid
      where datname = current_database() and relation = 'changes'::regclass and not granted`;
    const waiting = eventually('a wait', async () => (await waits.execute(database.reader)).rows.length > 0);
    await Promise.race([reading, waiting]);
    finish.tell();
    await Promise.all([early, reading]);
    await reader.follow();
    expect(resourcesIn(reader)).toEqual(await listsOf(database, instanceId));
  });

  test('goes on while a replica answers, which cannot begin one', async () => {
    const { database, mirror } = await followed(under);
    await beganIn(database, (present) => present.replace(/\w+$/, '00000009'));
    await replacing(database, 'pg_is_in_recovery() returns boolean', 'return true');
    await expect(mirror.follow()).resolves.toEqual([]);
  });
});

test('a watch of changed instances goes back with the positions, after a restore into the same place', async () => {
  let newest = 1_000;
  const asked: number[] = [];
  const ending = new AbortController();
  const changes = {
    newest: async () => newest,
    changedSince: async (position: number) => {
      asked.push(position);
      newest = 10;
      if (position === 10) {
        ending.abort();
      }
      return { instanceIds: [], position };
    },
  };
  for await (const _ of changedInstances(changes, ending.signal, 0)) {
  }
  expect(asked.at(-1)).toBe(10);
});
