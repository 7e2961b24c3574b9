import { describe, expect, test } from '@jest/globals';
import { Migrator, sql } from 'kysely';
import type { ClientId, InstanceId } from '../../../generated/ids.js';
import { digestOf } from '../../../src/domain/directory/changes.js';
import { createClient } from '../../../src/domain/platform/organization/clients.js';
import { createInstance } from '../../../src/domain/platform/organization/instances.js';
import { createLocation, updateLocation } from '../../../src/domain/platform/organization/locations.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import { changeStore } from '../../../src/store/adapters/changes.js';
import { beginLife } from '../../../src/store/adapters/lives.js';
import { isPostgres } from '../../../src/store/adapters/statements/dialect.js';
import { lock } from '../../../src/store/adapters/unit-of-work.js';
import { changesAreNotHeldBack } from '../../../src/store/checks/postgres-activity.js';
import type { Database } from '../../../src/store/database.js';
import { migrateToLatest } from '../../../src/store/migrate.js';
import { migrations } from '../../../src/store/migrations/index.js';
import {
  allIsReadable,
  digestsIn,
  listsOf,
  type Mirror,
  mirrorOf,
  resourcesIn,
} from '../../support/changes/mirror.js';
import { newInstance } from '../../support/changes/new-instance.js';
import { KINDS_OF_WRITES, writeAtRandom } from '../../support/changes/random-writes.js';
import { databaseUnderTest, describeEachDatabase } from '../../support/databases.js';
import { randomFrom } from '../../support/random-from.js';
import { signalled } from '../../support/signalled.js';
import { plantClient, plantLocation } from '../directory-rows.js';

const WRITERS = 4;
const MOST_WRITERS = 24;
const WRITES = 100;
/** Of entities that this release does not know. */
const NEWER_TYPE = 'zone';

/** A small page of a load has no room for all that an open transaction, also of another test, holds back. */
function ifHeldBack(error: unknown): void {
  if (!(error instanceof ServiceError && error.code === ErrorCode.UNAVAILABLE)) {
    throw error;
  }
}

describeEachDatabase('the sequence of changes', (under) => {
  test.each([1, 2, 3])(
    'is what the lists have, after writes of every kind at once (seed %i)',
    async (seed) => {
      const { database, platform, instanceId } = await newInstance(under);
      const random = randomFrom(seed);
      const follower = mirrorOf(database, instanceId);
      let isWriting = true;
      const following = (async () => {
        while (isWriting) {
          await follower.step(1 + Math.floor(random() * 20)).catch(ifHeldBack);
          await new Promise(setImmediate);
        }
      })();
      const writeMore = (writer: number, kinds?: readonly string[]) =>
        writeAtRandom(database, platform, {
          ...{ instanceId, times: WRITES, kinds },
          random: randomFrom(seed * 1_000 + writer),
        });
      const writers = await Promise.all(Array.from({ length: WRITERS }, (_, writer) => writeMore(writer)));
      const done = new Set(writers.flatMap((writer) => [...writer.done]));
      const missing = () => KINDS_OF_WRITES.filter((kind) => !done.has(kind));
      for (let writer = WRITERS; missing().length > 0 && writer < MOST_WRITERS; writer += 1) {
        // Some kinds need what others have made before, so that half of the writes are of any kind.
        const wanted = KINDS_OF_WRITES.map((_, index) => missing()[index % missing().length] as string);
        for (const kind of (await writeMore(writer, [...KINDS_OF_WRITES, ...wanted])).done) {
          done.add(kind);
        }
      }
      isWriting = false;
      await following;
      await follower.follow(7);
      const late = mirrorOf(database, instanceId);
      await late.follow(50);
      const lists = await listsOf(database, instanceId);
      expect(resourcesIn(follower)).toEqual(lists);
      expect(resourcesIn(late)).toEqual(lists);
      expect(missing()).toEqual([]);
      const clients = [...late.items.values()].filter(({ entity }) => entity.type === 'client');
      for (const { clientId } of clients) {
        const digests = await digestsIn(database, instanceId, clientId);
        expect(follower.digestsOf(clientId)).toEqual(digests);
        expect(late.digestsOf(clientId)).toEqual(digests);
      }
    },
  );

  test('has an entity once, at the place of its newest change', async () => {
    const { database, platform, instanceId } = await newInstance(under);
    await writeAtRandom(database, platform, { instanceId, times: 200, random: randomFrom(4) });
    const items = await mirrorOf(database, instanceId).follow(11);
    const keys = items.map(({ entity }) => `${entity.type} ${entity.id}`);
    expect(new Set(keys).size).toBe(keys.length);
    expect(items.some(({ removed }) => removed)).toBe(false);
  });

  test('goes on behind a cursor with what changed since, and removals of what was there', async () => {
    const { database, platform, instanceId } = await newInstance(under);
    const options = { instanceId, times: 150 };
    await writeAtRandom(database, platform, { ...options, random: randomFrom(5) });
    const mirror = mirrorOf(database, instanceId);
    await mirror.follow();
    await expect(mirror.follow()).resolves.toEqual([]);
    await writeAtRandom(database, platform, { ...options, random: randomFrom(6) });
    const items = await mirror.follow();
    expect(items.some(({ removed, resource }) => removed && resource === null)).toBe(true);
    expect(resourcesIn(mirror)).toEqual(await listsOf(database, instanceId));
  });

  test('has no changes of other instances', async () => {
    const { database, platform, instanceId } = await newInstance(under);
    const other = await platform.run((changes) => createInstance(changes, { name: 'Juniper' }));
    await writeAtRandom(database, platform, { instanceId, times: 20, random: randomFrom(7) });
    await expect(mirrorOf(database, other.id).follow()).resolves.toEqual([]);
  });

  test('leaves out entities of a type that only a newer release knows, present and removed', async () => {
    const { database, platform, instanceId } = await newInstance(under);
    const { id: clientId } = await platform.run((changes) =>
      createClient(changes, { instanceId, name: 'Present' }),
    );
    const mirror = mirrorOf(database, instanceId);
    await mirror.follow();
    const { cursor, place } = mirror;
    await plantOfNewerRelease(database, { instanceId, clientId });
    const location = await platform.run((changes) => createLocation(changes, { clientId, name: 'Pier' }));
    await plantOfNewerRelease(database, { instanceId, clientId });
    expect((await mirror.follow(1)).map(({ entity }) => entity.id)).toEqual([location.id]);
    // So a reader waits.
    const asked = { after: mirror.place.after, before: Number.MAX_SAFE_INTEGER, removedAfter: 0, limit: 9 };
    await expect(changeStore(database).page(instanceId as InstanceId, asked)).resolves.toEqual([]);
    const late = mirrorOf(database, instanceId);
    await late.follow(1);
    expect(resourcesIn(late)).toEqual(await listsOf(database, instanceId));
    expect(late.digestsOf(clientId)).toEqual(await digestsIn(database, instanceId, clientId));
    // A domain of the newer release gave this one, for the change right behind the other.
    mirror.goOnFrom(cursor);
    mirror.goOnWith({ after: { ...place.after, type: NEWER_TYPE } });
    expect((await mirror.follow()).map(({ entity }) => entity.id)).toEqual([location.id]);
  });

  test('tells which instances changed after a position', async () => {
    const { database, platform, instanceId } = await newInstance(under);
    const changes = changeStore(database);
    const before = await changes.newest();
    await expect(changes.changedSince(before)).resolves.toEqual({ instanceIds: [], position: before });
    await writeAtRandom(database, platform, { instanceId, times: 1, random: randomFrom(8) });
    await mirrorOf(database, instanceId).follow();
    const after = await changes.changedSince(before);
    expect(after).toEqual({ instanceIds: [instanceId], position: await changes.newest() });
  });

  describe('a cursor', () => {
    const followed = async () => {
      const { database, platform, instanceId } = await newInstance(under);
      await writeAtRandom(database, platform, { instanceId, times: 30, random: randomFrom(9) });
      const mirror = mirrorOf(database, instanceId);
      await mirror.follow();
      const write = (seed: number) =>
        writeAtRandom(database, platform, { instanceId, times: 30, random: randomFrom(seed) });
      return { database, instanceId, mirror, write };
    };

    test('of another instance integration is refused', async () => {
      const { database, instanceId, mirror } = await followed();
      const other = mirrorOf(database, instanceId);
      other.goOnFrom(mirror.cursor);
      await expect(other.follow()).rejects.toMatchObject({ code: ErrorCode.INVALID_REQUEST });
    });

    test.each(['', 'x', 'a.b.c.d.e.f', '000000000000.1.worker.wrk_l50ycP5H6CnQHxa7Xt2y3d.0.1'])(
      'that was not given is refused: %j',
      async (cursor) => {
        const { mirror } = await followed();
        mirror.goOnFrom(cursor);
        await expect(mirror.follow()).rejects.toMatchObject({ code: ErrorCode.INVALID_REQUEST });
      },
    );

    test('after a restore is valid for those who have seen no more than the backup has', async () => {
      const { database, instanceId, mirror, write } = await followed();
      const before = mirror.cursor;
      const { newest } = mirror.place;
      await write(10);
      await allIsReadable(database, instanceId);
      await mirror.step(1);
      const last = mirror.cursor;
      const { life, after } = mirror.place;
      // The backup is from before these writes.
      await database.write(async (writer) => {
        await beginLife(writer);
        await writer
          .updateTable('change_lives')
          .set({ last_position: under.kind === 'SQLite' ? newest : 0 })
          .where('last_position', 'is not', null)
          .execute();
      });
      // It has seen some of the writes, wherever it stands.
      mirror.goOnWith({ after: { ...after, position: 1 }, beganAt: 0 });
      await expect(mirror.follow()).rejects.toMatchObject({ code: ErrorCode.CURSOR_EXPIRED });
      mirror.goOnFrom(last);
      mirror.goOnWith({ life: 'bbbbbbbbbbbb', beganAt: 0 });
      await expect(mirror.follow()).rejects.toMatchObject({ code: ErrorCode.CURSOR_EXPIRED });
      mirror.goOnFrom(before);
      if (under.kind === 'SQLite') {
        await mirror.follow();
        expect(resourcesIn(mirror)).toEqual(await listsOf(database, instanceId));
      } else {
        await expect(mirror.follow()).rejects.toMatchObject({ code: ErrorCode.CURSOR_EXPIRED });
      }
      mirror.goOnFrom(undefined);
      await mirror.follow();
      expect(mirror.place.life).not.toBe(life);
    });

    test('of the present life that lies behind its end is expired', async () => {
      const { mirror } = await followed();
      mirror.goOnWith({ after: { ...mirror.place.after, position: Number.MAX_SAFE_INTEGER } });
      await expect(mirror.follow()).rejects.toMatchObject({ code: ErrorCode.CURSOR_EXPIRED });
    });
  });
});

/** A present and a removed one, each by a write of its own. */
async function plantOfNewerRelease(
  database: Database,
  of: { instanceId: string; clientId: string },
): Promise<void> {
  for (const removed of [0, 1]) {
    await database.write(async (writer) => {
      await sql`update change_feed set last_position = last_position + 1`.execute(writer);
      const position = isPostgres(writer)
        ? sql`change_position()`
        : sql`(select last_position from change_feed)`;
      await sql`
        insert into changes
          (entity_type, entity_id, client_id, instance_id, position, version, removed, changed_at)
        values (${NEWER_TYPE}, ${newPublicId('UnitId')}, ${of.clientId}, ${of.instanceId},
          ${position}, 1, ${removed}, 1)
      `.execute(writer);
    });
  }
}

describe('the migration on PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('has every write of a node of an earlier release, which goes on beside it', async () => {
    const place = await under.newEmptyPlace();
    const database = await under.open(place);
    const earlier = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0030'));
    const migrator = new Migrator({
      db: database.patient,
      provider: { getMigrations: async () => earlier },
    });
    expect((await migrator.migrateToLatest()).error).toBeUndefined();
    const { instanceId, id } = await plantClient(database);
    let isWriting = true;
    const writing = (async () => {
      for (let number = 0; isWriting; number += 1) {
        await plantLocation(database, id, { name: `Location ${number}` });
      }
    })();
    await migrateToLatest(database.patient);
    isWriting = false;
    await writing;
    const mirror = mirrorOf(database, instanceId);
    await mirror.follow();
    expect(resourcesIn(mirror)).toEqual(await listsOf(database, instanceId));
    expect(mirror.digestsOf(id)).toEqual(await digestsIn(database, instanceId, id));
  });
});

/** Begins a transaction that adds a client, and stays open until `finish`. */
async function beginEarly(database: Database, instanceId: string): Promise<{ finish(): Promise<void> }> {
  const [begun, ends] = [signalled(), signalled()];
  const early = database.write(async (writer) => {
    await writer
      .insertInto('clients')
      .values({
        ...{ id: 'cli_aaaaaaaaaaaaaaaaaaaaaa', instance_id: instanceId, name: 'Early', version: 'v1' },
        ...{ address1: null, address2: null, city: null, iso_country_code: null },
        ...{ postal_code: null, zone_code: null, created_at: 1, updated_at: 1 },
      })
      .execute();
    begun.tell();
    await ends.told;
  });
  await begun.told;
  return {
    finish: () => {
      ends.tell();
      return early;
    },
  };
}

describe('the sequence of changes on PostgreSQL, where a transaction can commit before one that began earlier', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('does not go past a transaction that is not over', async () => {
    const { database, platform, instanceId } = await newInstance(under);
    const write = (seed: number) =>
      writeAtRandom(database, platform, { instanceId, times: 1, random: randomFrom(seed) });
    const mirror = mirrorOf(database, instanceId);
    await write(10);
    await mirror.follow();
    const { finish } = await beginEarly(database, instanceId);
    await write(11);
    await expect(mirror.step(100)).resolves.toEqual([]);
    const changes = changeStore(database);
    const heldBack = await changes.heldBack();
    expect(heldBack?.changes).toBeGreaterThan(0);
    expect(heldBack?.ageMs).toBeGreaterThan(0);
    const settings = { longMs: 0 };
    expect((await changesAreNotHeldBack.find(database.reader, settings)).examples).toEqual([
      expect.stringMatching(/^\d+ changes are held back, the oldest for .*: process \d+ .*for \d+ (s|min)$/),
    ]);
    expect((await changesAreNotHeldBack.find(database.reader, { longMs: 3_600_000 })).count).toBe(0);
    await finish();
    await allIsReadable(database, instanceId);
    await expect(changes.heldBack()).resolves.toEqual({ changes: 0, ageMs: 0 });
    expect((await changesAreNotHeldBack.find(database.reader, settings)).count).toBe(0);
    const names = (await mirror.follow()).map(({ resource }) => (resource as { name?: string }).name);
    expect(names).toContain('Early');
    expect(resourcesIn(mirror)).toEqual(await listsOf(database, instanceId));
  });

  describe('brings in a load all that exists,', () => {
    /** Three locations change after a transaction began that stays open until `finish`. */
    const changedMeanwhile = async () => {
      const { database, platform, instanceId } = await newInstance(under);
      const { id: clientId } = await platform.run((changes) =>
        createClient(changes, { instanceId, name: 'Present' }),
      );
      const create = (name: string) => platform.run((changes) => createLocation(changes, { clientId, name }));
      const locations = [await create('North'), await create('South'), await create('West')];
      await allIsReadable(database, instanceId);
      const { finish } = await beginEarly(database, instanceId);
      for (const { id: locationId, name } of locations) {
        await platform.run((changes) => updateLocation(changes, { locationId, name: `${name} again` }));
      }
      return { database, platform, instanceId, locations, finish };
    };
    const load = async (mirror: Mirror, limit: number) => {
      while (mirror.place.isLoading) {
        await mirror.step(limit);
      }
    };

    test.each([3, 4, 100])('while a transaction stays open (pages of %i)', async (limit) => {
      const { database, instanceId, finish } = await changedMeanwhile();
      const mirror = mirrorOf(database, instanceId);
      await mirror.step(limit);
      await load(mirror, limit);
      expect(resourcesIn(mirror)).toEqual(await listsOf(database, instanceId));
      // What is not final comes once in a load, and then at its place.
      await expect(mirror.step(limit)).resolves.toEqual([]);
      await finish();
      const names = (await mirror.follow(limit)).map(({ resource }) => (resource as { name?: string }).name);
      expect(names).toEqual(expect.arrayContaining(['North again', 'South again', 'West again', 'Early']));
      expect(resourcesIn(mirror)).toEqual(await listsOf(database, instanceId));
    });

    test('also when a reader stops and goes on at any item', async () => {
      const { database, instanceId, finish } = await changedMeanwhile();
      const lists = await listsOf(database, instanceId);
      for (let stored = 1; stored <= Object.keys(lists).length; stored += 1) {
        const mirror = mirrorOf(database, instanceId);
        await mirror.step(100, stored);
        await load(mirror, 100);
        expect(resourcesIn(mirror)).toEqual(lists);
      }
      await finish();
    });

    test('or is refused until it has ended, where one page has no room for what is not final', async () => {
      const { database, instanceId, finish } = await changedMeanwhile();
      const mirror = mirrorOf(database, instanceId);
      await mirror.step(2);
      await expect(mirror.step(2)).rejects.toMatchObject({
        ...{ code: ErrorCode.UNAVAILABLE, retryAfterSeconds: 3 },
      });
      await finish();
      await allIsReadable(database, instanceId);
      await load(mirror, 2);
      expect(resourcesIn(mirror)).toEqual(await listsOf(database, instanceId));
    });
  });

  describe('gives no digest before readers can have what it counts:', () => {
    const held = async () => {
      const { database, platform, instanceId } = await newInstance(under);
      const { id: clientId } = await platform.run((changes) =>
        createClient(changes, { instanceId, name: 'Counted' }),
      );
      const [begun, finish] = [signalled(), signalled()];
      const early = database.write(async (writer) => {
        await lock(writer, ['cli_aaaaaaaaaaaaaaaaaaaaaa']);
        begun.tell();
        await finish.told;
      });
      await begun.told;
      await platform.run((changes) => createLocation(changes, { clientId, name: 'Counted' }));
      return { database, instanceId, clientId, early, finish };
    };

    test('it waits for the transactions that are not over', async () => {
      const { database, instanceId, clientId, early, finish } = await held();
      const store = changeStore(database);
      let looks = 0;
      const lives = async () => {
        looks += 1;
        if (looks === 3) {
          finish.tell();
          await early;
          // Transactions of other databases on the same server delay the digests too.
          await allIsReadable(database, instanceId);
        }
        return store.lives();
      };
      const digests = await digestsIn(database, instanceId, clientId, { ...store, lives });
      expect(looks).toBeGreaterThanOrEqual(3);
      expect(digests).toContainEqual(expect.objectContaining({ type: 'location', count: 1 }));
      const mirror = mirrorOf(database, instanceId);
      await mirror.follow();
      expect(mirror.digestsOf(clientId)).toEqual(digests);
    });

    test('it is refused for now if one of them stays open', async () => {
      const { database, instanceId, clientId, early, finish } = await held();
      const visitor = { instanceId: instanceId as InstanceId, clientId: clientId as ClientId };
      const store = changeStore(database);
      let looks = 0;
      const lives = () => {
        looks += 1;
        return store.lives();
      };
      let slots = 0;
      const hold = () => {
        slots += 1;
        return () => {
          slots -= 1;
        };
      };
      await expect(digestOf({ ...store, lives }, visitor, hold)).rejects.toMatchObject({
        ...{ code: ErrorCode.UNAVAILABLE, retryAfterSeconds: 3 },
      });
      expect(slots).toBe(0);
      // Each is a statement, and integrations ask for the digests of all their clients.
      expect(looks).toBeLessThan(10);
      finish.tell();
      await early;
    });
  });
});
