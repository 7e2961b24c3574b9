import { expect, test } from '@jest/globals';
import { type DemoCredentials, demoSeed } from '../../src/domain/demo/seed.js';
import { inspectApiKey, newApiKey } from '../../src/identifiers/api-key.js';
import { hashSecret } from '../../src/identifiers/secret-hash.js';
import { newServiceToken } from '../../src/identifiers/service-token.js';
import type { Database } from '../../src/store/database.js';
import { describeEachDatabase } from '../support/databases.js';

const TABLES = [
  'instances',
  'integrations',
  'instance_integrations',
  'api_keys',
  'service_tokens',
  'accounts',
  'clients',
  'roles',
  'users',
  'unit_types',
  'units',
  'locations',
  'workers',
] as const;

describeEachDatabase('the demo seed', (under) => {
  test('opens the doors with its credentials and shows each integration its own connections', async () => {
    const store = await under.openStore(await under.newPlace());
    const credentials = newCredentials();
    await store.demo.plant(demoSeed, credentials);

    for (const { id, connections } of demoSeed.integrations) {
      const key = credentials.apiKeys[id] as string;
      expect(inspectApiKey(key, 'demo')).toBe('plausible');
      const stored = await store.visits.findKey(hashSecret(key));
      expect(stored?.key).toMatchObject({ integrationId: id, expiresAt: null, revokedAt: null });
      const listed = await store.instanceIntegrations.listOf(id);
      expect(listed.map((connection) => connection.id)).toEqual(
        connections.map((connection) => connection.id),
      );
    }
    for (const kind of ['operator', 'platform'] as const) {
      const token = await store.serviceTokens.findByHash(hashSecret(credentials.serviceTokens[kind]));
      expect(token?.kind).toBe(kind);
    }
  });

  test('planted again changes nothing, not even a version', async () => {
    const place = await under.newPlace();
    const store = await under.openStore(place);
    const database = await under.open(place);
    const credentials = newCredentials();
    await store.demo.plant(demoSeed, credentials);
    const before = await everything(database);

    await store.demo.plant(demoSeed, credentials);
    expect(await everything(database)).toEqual(before);
  });

  test('leaves what people changed or took away since as they made it', async () => {
    const place = await under.newPlace();
    const store = await under.openStore(place);
    const database = await under.open(place);
    const credentials = newCredentials();
    await store.demo.plant(demoSeed, credentials);
    const [kept, removed] = demoSeed.integrations[0]?.connections ?? [];
    await database.write(async (writer) => {
      await writer.updateTable('instances').set({ name: 'Renamed' }).execute();
      await writer
        .deleteFrom('instance_integrations')
        .where('id', '=', removed?.id as string)
        .execute();
    });

    await store.demo.plant(demoSeed, credentials);
    const listed = await store.instanceIntegrations.listOf(demoSeed.integrations[0]?.id ?? 'itg_');
    expect(listed.map(({ id, instanceName }) => [id, instanceName])).toEqual([[kept?.id, 'Renamed']]);
  });

  test('makes new credentials valid beside the old ones', async () => {
    const store = await under.openStore(await under.newPlace());
    const [old, young] = [newCredentials(), newCredentials()];
    await store.demo.plant(demoSeed, old);
    await store.demo.plant(demoSeed, young);

    for (const key of [...Object.values(old.apiKeys), ...Object.values(young.apiKeys)]) {
      expect(await store.visits.findKey(hashSecret(key))).toBeDefined();
    }
  });

  test('is planted as a whole or not at all', async () => {
    const place = await under.newPlace();
    const store = await under.openStore(place);
    const broken = { ...newCredentials(), apiKeys: { itg_missing: newApiKey('demo') } };

    await expect(store.demo.plant(demoSeed, broken)).rejects.toMatchObject({
      message: expect.stringMatching(/foreign key/i),
    });
    expect((await everything(await under.open(place))).flat()).toEqual([]);
  });

  test('keeps no secret in the database', async () => {
    const place = await under.newPlace();
    const store = await under.openStore(place);
    const credentials = newCredentials();
    await store.demo.plant(demoSeed, credentials);

    const dump = JSON.stringify(await everything(await under.open(place)));
    for (const secret of [
      ...Object.values(credentials.apiKeys),
      ...Object.values(credentials.serviceTokens),
    ]) {
      expect(dump).not.toContain(secret.slice(13));
    }
  });
});

function newCredentials(): DemoCredentials {
  return {
    serviceTokens: {
      operator: newServiceToken('operator', 'demo'),
      platform: newServiceToken('platform', 'demo'),
    },
    apiKeys: Object.fromEntries(demoSeed.integrations.map(({ id }) => [id, newApiKey('demo')])),
  };
}

function everything({ reader }: Database): Promise<object[][]> {
  return Promise.all(TABLES.map((table) => reader.selectFrom(table).selectAll().orderBy('id').execute()));
}
