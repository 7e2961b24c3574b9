import { expect, test } from '@jest/globals';
import { clientStore } from '../../../src/store/adapters/directory.js';
import { organizationStore } from '../../../src/store/adapters/organization.js';
import { describeEachDatabase } from '../../support/databases.js';
import { valueIn } from '../../support/gateway/contract-rows.js';
import { plantClient, plantJobTitle, plantLocation, plantUnit, plantUnitType } from '../directory-rows.js';
import { CREATED_AT } from '../rows.js';

describeEachDatabase('a client', (under) => {
  test('is found with every part of its address, or with nulls', async () => {
    const database = await under.openMigrated();
    const parts = { address1: '1', address2: '2', city: '3', postal_code: '5', zone_code: '6' };
    const full = await plantClient(database, { name: 'A "B" Ä', ...parts, iso_country_code: 'US' });
    const bare = await plantClient(database);
    const clients = clientStore(database);
    await expect(valueIn(clients.find(full.id))).resolves.toStrictEqual({
      id: full.id,
      name: 'A "B" Ä',
      location: {
        address1: '1',
        address2: '2',
        city: '3',
        isoCountryCode: 'US',
        postalCode: '5',
        zoneCode: '6',
      },
    });
    const { location } = (await valueIn(clients.find(bare.id))) ?? {};
    expect(Object.values(location ?? {})).toEqual(Array(6).fill(null));
    await expect(clients.find('cli_missing')).resolves.toBeUndefined();
  });
});

describeEachDatabase('the structure of a client', (under) => {
  test('has its layers, units and locations, each oldest first, then by id', async () => {
    const database = await under.openMigrated();
    const { id: client } = await plantClient(database);
    const later = { created_at: CREATED_AT + 1 };
    await plantUnitType(database, client, { id: 'out_1', name: 'Team', ...later });
    await plantUnitType(database, client, { id: 'out_2', name: 'Division' });
    await plantUnit(database, client, { id: 'oun_1', unit_type_id: 'out_2', name: 'Logistics', ...later });
    await plantUnit(database, client, { id: 'oun_b', unit_type_id: 'out_2', description: 'Warm things' });
    await plantUnit(database, client, {
      id: 'oun_B',
      unit_type_id: 'out_1',
      parent_id: 'oun_b',
      name: 'Ovens',
    });
    await plantLocation(database, client, { id: 'olo_2', name: 'Old Port' });
    await plantLocation(database, client, { id: 'olo_1', name: 'Mill Road' });

    await expect(valueIn(organizationStore(database).structureOf(client))).resolves.toStrictEqual({
      unitsTypes: [
        { id: 'out_2', name: 'Division' },
        { id: 'out_1', name: 'Team' },
      ],
      units: [
        { id: 'oun_B', name: 'Ovens', description: null, unitTypeId: 'out_1', parentUnitId: 'oun_b' },
        { id: 'oun_b', name: 'Kitchen', description: 'Warm things', unitTypeId: 'out_2', parentUnitId: null },
        { id: 'oun_1', name: 'Logistics', description: null, unitTypeId: 'out_2', parentUnitId: null },
      ],
      locations: [
        { id: 'olo_1', name: 'Mill Road' },
        { id: 'olo_2', name: 'Old Port' },
      ],
    });
  });

  test('has nothing of another client, and is empty where there is none', async () => {
    const database = await under.openMigrated();
    const [mine, theirs] = [await plantClient(database), await plantClient(database)];
    await plantUnit(database, theirs.id);
    await plantLocation(database, theirs.id);
    await plantJobTitle(database, theirs.id, 'Baker');
    const organization = organizationStore(database);
    const empty = { unitsTypes: [], units: [], locations: [] };
    await expect(valueIn(organization.structureOf(mine.id))).resolves.toEqual(empty);
    await expect(valueIn(organization.structureOf('cli_missing'))).resolves.toEqual(empty);
    await expect(valueIn(organization.jobTitlesOf(mine.id))).resolves.toEqual([]);
  });
});

describeEachDatabase('the structure of a client that changes meanwhile', (under) => {
  test('has each unit with its type, also where both are deleted during the read', async () => {
    const database = await under.openMigrated();
    const { id: client } = await plantClient(database);
    await plantUnit(database, client);
    let hasRead = false;
    const reader = database.reader.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (!hasRead) {
          hasRead = true;
          await database.write(async (writer) => {
            await writer.deleteFrom('units').execute();
            await writer.deleteFrom('unit_types').execute();
          });
        }
        return result;
      },
    });
    const structure = await valueIn(organizationStore({ reader }).structureOf(client));
    expect(hasRead).toBe(true);
    const types = structure?.units.map(({ unitTypeId }) => unitTypeId);
    expect(structure?.unitsTypes.map(({ id }) => id)).toEqual(types);
  });
});

describeEachDatabase('the job titles of a client', (under) => {
  test('stand in the order of their bytes, alike on every database', async () => {
    const database = await under.openMigrated();
    const { id } = await plantClient(database);
    const inOrder = ['10 Pin Setter', 'Baker', 'Bäcker', 'Chef', 'baker', 'Ärztin', '🌿 Gardener'];
    for (const title of [...inOrder].reverse()) {
      await plantJobTitle(database, id, title);
    }
    await expect(valueIn(organizationStore(database).jobTitlesOf(id))).resolves.toEqual(inOrder);
  });
});

describeEachDatabase('the job titles of several clients', (under) => {
  async function clientsWith(...counts: readonly number[]) {
    const database = await under.openMigrated();
    const clients: { id: string; titles: string[] }[] = [];
    for (const count of counts) {
      const { id } = await plantClient(database);
      const titles = Array.from({ length: count }, (_, index) => `Baker ${String(index).padStart(5, '0')}`);
      for (let from = 0; from < count; from += 5_000) {
        const rows = titles.slice(from, from + 5_000).map((title) => ({ client_id: id, title }));
        await database.write((writer) => writer.insertInto('job_titles').values(rows).execute());
      }
      clients.push({ id, titles });
    }
    const read = { rows: 0 };
    const reader = database.reader.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        read.rows += result.rows.length;
        return result;
      },
    });
    const { jobTitlesOfAll } = organizationStore({ reader });
    const ofAll = async (some = clients) => {
      const found = await jobTitlesOfAll(JSON.stringify(some.map(({ id }) => id)));
      return found.map(({ id, json }) => ({ id, titles: JSON.parse(json) as string[] }));
    };
    return { clients, ofAll, read };
  }

  test('are those of each, also of one that has none', async () => {
    const { clients, ofAll } = await clientsWith(2, 0, 3);
    await expect(ofAll()).resolves.toEqual(clients);
  });

  test('are those of the first clients where all have very many, and never a part of those of one', async () => {
    const { clients, ofAll, read } = await clientsWith(5_001, 4_999, 1);
    await expect(ofAll()).resolves.toEqual(clients.slice(0, 1));
    expect(read.rows).toBeLessThanOrEqual(2 * 10_000);
    await expect(ofAll(clients.slice(1))).resolves.toEqual(clients.slice(1));
  });
});
