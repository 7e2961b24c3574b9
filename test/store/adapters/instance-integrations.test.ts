import { expect, test } from '@jest/globals';
import { instanceIntegrationStore } from '../../../src/store/adapters/instance-integrations.js';
import { describeEachDatabase } from '../../support/databases.js';
import { valueIn } from '../../support/gateway/contract-rows.js';
import { CREATED_AT, plantConnection, plantInstance, plantIntegration } from '../rows.js';

describeEachDatabase('instance integrations', (under) => {
  test('a connection comes with the name of its instance and its times in UTC', async () => {
    const database = await under.openMigrated();
    const integration = await plantIntegration(database);
    const instance = await plantInstance(database, { name: 'Harborlight Payroll' });
    const { id } = await plantConnection(database, {
      integration_id: integration.id,
      instance_id: instance.id,
      created_at: CREATED_AT,
      updated_at: CREATED_AT + 5,
    });

    await expect(valueIn(instanceIntegrationStore(database).listOf(integration.id))).resolves.toStrictEqual([
      {
        id,
        applicationInstance: { id: instance.id, instanceName: 'Harborlight Payroll' },
        createdAt: new Date(CREATED_AT).toISOString(),
        updatedAt: new Date(CREATED_AT + 5).toISOString(),
      },
    ]);
  });

  test('the list holds the connections of the integration that asks, and of no other', async () => {
    const database = await under.openMigrated();
    const [mine, theirs] = [await plantIntegration(database), await plantIntegration(database)];
    const shared = await plantInstance(database);
    const own = await plantConnection(database, { integration_id: mine.id, instance_id: shared.id });
    await plantConnection(database, { integration_id: theirs.id, instance_id: shared.id });

    const listed = await valueIn(instanceIntegrationStore(database).listOf(mine.id));
    expect(listed?.map(({ id }) => id)).toEqual([own.id]);
  });

  test('an integration without connections, and one that does not exist, have an empty list', async () => {
    const database = await under.openMigrated();
    const integration = await plantIntegration(database);

    const store = instanceIntegrationStore(database);
    await expect(valueIn(store.listOf(integration.id))).resolves.toEqual([]);
    await expect(valueIn(store.listOf('itg_missing'))).resolves.toEqual([]);
  });

  test('connections that are not set up yet are in the list too', async () => {
    const database = await under.openMigrated();
    const integration = await plantIntegration(database);
    for (const configured_at of [null, CREATED_AT]) {
      const { id: instance_id } = await plantInstance(database);
      await plantConnection(database, { integration_id: integration.id, instance_id, configured_at });
    }

    await expect(valueIn(instanceIntegrationStore(database).listOf(integration.id))).resolves.toHaveLength(2);
  });

  test('the oldest comes first, and among those of one moment the order is that of the bytes of the id', async () => {
    const database = await under.openMigrated();
    const integration = await plantIntegration(database);
    const planted = [
      ['iin_b', CREATED_AT + 1],
      ['iin_a', CREATED_AT + 1],
      ['iin_B', CREATED_AT + 1],
      ['iin_1', CREATED_AT + 1],
      ['iin_z', CREATED_AT],
      ['iin_0', CREATED_AT + 2],
    ] as const;
    for (const [id, created_at] of planted) {
      const { id: instance_id } = await plantInstance(database);
      await plantConnection(database, { id, integration_id: integration.id, instance_id, created_at });
    }

    const listed = await valueIn(instanceIntegrationStore(database).listOf(integration.id));
    expect(listed?.map(({ id }) => id)).toEqual(['iin_z', 'iin_1', 'iin_B', 'iin_a', 'iin_b', 'iin_0']);
  });

  test('an integration and an instance have one connection at most', async () => {
    const database = await under.openMigrated();
    const pair = {
      integration_id: (await plantIntegration(database)).id,
      instance_id: (await plantInstance(database)).id,
    };
    await plantConnection(database, pair);
    await expect(plantConnection(database, pair)).rejects.toMatchObject({
      message: expect.stringMatching(/unique/i),
    });
  });

  test('a connection needs an integration and an instance that exist', async () => {
    const database = await under.openMigrated();
    const orphan = { integration_id: 'itg_missing', instance_id: (await plantInstance(database)).id };
    await expect(plantConnection(database, orphan)).rejects.toMatchObject({
      message: expect.stringMatching(/foreign key/i),
    });
  });
});
