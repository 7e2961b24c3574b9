import { expect, test } from '@jest/globals';
import { workerStore } from '../../../src/store/adapters/directory.js';
import { describeEachDatabase } from '../../support/databases.js';
import { valueIn, valuesIn } from '../../support/gateway/contract-rows.js';
import { noAddress, plantClient, plantLocation, plantUnit, plantWorker } from '../directory-rows.js';
import { CREATED_AT } from '../rows.js';

const ALL = { after: undefined, limit: 100 };

describeEachDatabase('workers', (under) => {
  test('come with all they have, and their place in v2 only', async () => {
    const database = await under.openMigrated();
    const { id: client_id } = await plantClient(database);
    const [kitchen, bakery] = [
      await plantUnit(database, client_id, { name: 'Kitchen' }),
      await plantUnit(database, client_id, { name: 'Bakery' }),
    ];
    const location = await plantLocation(database, client_id);
    const { id } = await plantWorker(
      database,
      {
        client_id,
        first_name: 'Zoë',
        last_name: "O'Neil",
        full_name: "Zoë O'Neil 🌿",
        email: 'zoe@example.com',
        phone: '+1 207 555 0100',
        job_titles: JSON.stringify(['Ärztin', 'Line "Cook"']),
        ...{
          address1: '1',
          address2: '2',
          city: '3',
          iso_country_code: 'US',
          postal_code: '5',
          zone_code: '6',
        },
        location_id: location.id,
        primary_unit_id: kitchen.id,
      },
      [bakery.id, kitchen.id],
    );
    const plain = {
      id,
      firstName: 'Zoë',
      lastName: "O'Neil",
      fullName: "Zoë O'Neil 🌿",
      email: 'zoe@example.com',
      phone: '+1 207 555 0100',
      jobTitles: ['Ärztin', 'Line "Cook"'],
      location: {
        address1: '1',
        address2: '2',
        city: '3',
        isoCountryCode: 'US',
        postalCode: '5',
        zoneCode: '6',
      },
    };
    const placed = {
      ...plain,
      organizationUnits: [bakery, kitchen],
      organizationUnit: kitchen,
      organizationLocation: location,
      offboardedAt: null,
    };
    const workers = workerStore(database);
    await expect(valuesIn(workers.pageV2(client_id, ALL))).resolves.toStrictEqual([placed]);
    await expect(valueIn(workers.findV2(client_id, id))).resolves.toStrictEqual(placed);
    await expect(valuesIn(workers.page(client_id, ALL))).resolves.toStrictEqual([plain]);
  });

  test('what is not known comes as null, and no assignment as an empty list', async () => {
    const database = await under.openMigrated();
    const { id: client_id } = await plantClient(database);
    const { id } = await plantWorker(database, { client_id });
    await expect(valueIn(workerStore(database).findV2(client_id, id))).resolves.toMatchObject({
      phone: null,
      jobTitles: [],
      location: { address1: null, isoCountryCode: null, zoneCode: null },
      organizationUnits: [],
      organizationUnit: null,
      organizationLocation: null,
    });
    expect(Object.values(noAddress)).toEqual(Array(6).fill(null));
  });

  test('units stand in the order of their assignment, each worker has their own', async () => {
    const database = await under.openMigrated();
    const { id: client_id } = await plantClient(database);
    const units = [];
    for (const name of ['c', 'a', 'd', 'b']) {
      units.push(await plantUnit(database, client_id, { name }));
    }
    const ids = units.map(({ id }) => id);
    const orders = [[...ids], [...ids].reverse(), [], ids.slice(1, 3)];
    for (const [index, order] of orders.entries()) {
      await plantWorker(database, { client_id, created_at: CREATED_AT + index }, order);
    }
    const workers = await valuesIn(workerStore(database).pageV2(client_id, ALL));
    expect(workers.map((worker) => worker.organizationUnits.map(({ id }) => id))).toEqual(orders);
  });

  test('an offboarded worker leaves the list and is found by id', async () => {
    const database = await under.openMigrated();
    const { id: client_id } = await plantClient(database);
    const stays = await plantWorker(database, { client_id });
    const left = await plantWorker(database, { client_id, offboarded_at: CREATED_AT });
    const workers = workerStore(database);
    for (const page of ['page', 'pageV2'] as const) {
      const listed = await workers[page](client_id, ALL);
      expect(listed.map(({ id }) => id)).toEqual([stays.id]);
    }
    await expect(valueIn(workers.findV2(client_id, left.id))).resolves.toMatchObject({
      id: left.id,
      offboardedAt: new Date(CREATED_AT).toISOString(),
    });
    await expect(valueIn(workers.findV2(client_id, stays.id))).resolves.toMatchObject({ offboardedAt: null });
  });

  test('a worker of another client is not found, nor one who does not exist', async () => {
    const database = await under.openMigrated();
    const [mine, theirs] = [await plantClient(database), await plantClient(database)];
    const { id } = await plantWorker(database, { client_id: theirs.id });
    const workers = workerStore(database);
    await expect(valueIn(workers.findV2(mine.id, id))).resolves.toBeUndefined();
    await expect(valueIn(workers.findV2(theirs.id, 'wrk_missing'))).resolves.toBeUndefined();
    await expect(valueIn(workers.findV2(theirs.id, id))).resolves.toMatchObject({ id });
  });
});
