import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { renameJobTitle } from '../../../src/domain/platform/organization/job-titles.js';
import { updateLocation } from '../../../src/domain/platform/organization/locations.js';
import type { Changes } from '../../../src/domain/platform/unit-of-work.js';
import { changeStore } from '../../../src/store/adapters/changes.js';
import { changesIn } from '../../../src/store/adapters/platform/unit-of-work.js';
import { commonChanges } from '../../../src/store/adapters/unit-of-work.js';
import type { Writer } from '../../../src/store/database.js';
import { databaseUnderTest } from '../../support/databases.js';
import { signalled } from '../../support/signalled.js';
import { plantClient, plantJobTitle, plantLocation, plantUnitType, plantWorker } from '../directory-rows.js';

describe('a large transaction about one client on PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');
  const WORKERS = 60;
  const MOST_UPDATES_OF_A_ROW = 3;
  const TRANSACTIONS = 200;
  /** Of the 800 transactions together. More remain in less than one of 10^6 runs. */
  const MOST_ROWS = 500;
  const TIMES = { version: 'v1', created_at: 1, updated_at: 1 };

  /** Of each table: how many updates there were for each of its rows. */
  async function updatesOfARow(writer: Writer, work: () => Promise<unknown>) {
    const updates = async () => {
      const { rows } = await sql<{ name: string; updates: number }>`
        select relname as name, n_tup_upd::integer as updates from pg_stat_xact_user_tables
      `.execute(writer);
      return new Map(rows.map((row) => [row.name, row.updates]));
    };
    const before = await updates();
    await work();
    const found: [string, number][] = [];
    for (const [name, count] of await updates()) {
      const added = count - (before.get(name) ?? 0);
      if (added > 0) {
        const { rows } = await sql<{ count: number }>`
          select count(*)::integer as count from ${sql.table(name)}
        `.execute(writer);
        found.push([name, added / (rows[0]?.count ?? 0)]);
      }
    }
    return Object.fromEntries(found);
  }

  test.each([
    [
      'a job title',
      (changes: Changes, clientId: string) =>
        renameJobTitle(changes, { clientId, title: 'Cook', newTitle: 'Chef' }),
    ],
    [
      'a location',
      (changes: Changes, _: string, locationId: string) =>
        updateLocation(changes, { locationId, name: 'Quay' }),
    ],
  ])(
    'that renames %s updates no row again for each, which would go through all versions',
    async (_, rename) => {
      const database = await under.openMigrated();
      const { id: clientId } = await plantClient(database);
      await plantJobTitle(database, clientId, 'Cook');
      const { id: locationId } = await plantLocation(database, clientId);
      for (let number = 0; number < WORKERS; number += 1) {
        const fields = { job_titles: '["Cook"]', location_id: locationId };
        await plantWorker(database, { client_id: clientId, ...fields });
      }
      const updates = await database.write((writer) => {
        const changes = changesIn(writer, commonChanges(writer, Date.now()), () => undefined, {});
        return updatesOfARow(writer, () => rename(changes, clientId, locationId));
      });
      expect(updates).toMatchObject({ workers: 1, changes: expect.any(Number) });
      expect(Object.entries(updates).filter(([, each]) => each > MOST_UPDATES_OF_A_ROW)).toEqual([]);
    },
  );

  test('lets others write about entities of the client meanwhile', async () => {
    const database = await under.openMigrated();
    const { id: clientId } = await plantClient(database);
    const [begun, finish] = [signalled(), signalled()];
    const one = database.write(async (writer) => {
      await writer
        .insertInto('unit_types')
        .values({ ...{ id: 'unt_1', client_id: clientId, name: 'Area' }, ...TIMES })
        .execute();
      begun.tell();
      await finish.told;
    });
    await begun.told;
    await plantUnitType(database, clientId);
    finish.tell();
    await one;
    const rows = await changeStore(database).digestsOf(clientId);
    expect(rows).toContainEqual(expect.objectContaining({ type: 'unitType', entities: 2 }));
  });

  test('keeps few rows for its digests, whose sums are those of the changes', async () => {
    const database = await under.openMigrated();
    const { id: clientId } = await plantClient(database);
    // Logical replication publishes the deletes of folds, too.
    await database.write((writer) => sql`create publication everything for all tables`.execute(writer));
    const types = await Promise.all([0, 1, 2, 3].map(() => plantUnitType(database, clientId)));
    const rename = sql<string>`name || '.'`;
    await Promise.all(
      types.map(async ({ id }) => {
        for (let number = 0; number < TRANSACTIONS; number += 1) {
          await database.write((writer) =>
            writer.updateTable('unit_types').set({ name: rename }).where('id', '=', id).execute(),
          );
        }
      }),
    );
    const { reader } = database;
    const rows = await reader.selectFrom('change_digests').select('client_id').execute();
    expect(rows.length).toBeLessThan(MOST_ROWS);
    const versions = await reader
      .selectFrom('changes')
      .where('entity_type', '=', 'unitType')
      .select('version')
      .execute();
    expect(await changeStore(database).digestsOf(clientId)).toContainEqual({
      type: 'unitType',
      entities: 4,
      digest: versions.reduce((sum, { version }) => sum + Number(version), 0) % 2 ** 52,
    });
  });
});
