import { expect, test } from '@jest/globals';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { visitStore } from '../../../src/store/adapters/access.js';
import type { Database } from '../../../src/store/database.js';
import { describeEachDatabase } from '../../support/databases.js';
import { plantClient } from '../directory-rows.js';
import { CREATED_AT, plantApiKey, plantConnection, plantIntegration, plantVersion } from '../rows.js';

const HASH = hashSecret('secret');

/** An integration with a key, connected to an instance with a client. */
async function plantWorld(database: Database, secret: string, configured = true) {
  const integration = await plantIntegration(database);
  const key = await plantApiKey(database, secret, { integration_id: integration.id });
  const client = await plantClient(database);
  const connection = await plantConnection(database, {
    integration_id: integration.id,
    instance_id: client.instanceId,
    configured_at: configured ? CREATED_AT : null,
  });
  await plantVersion(database, integration.id, 'of the integration');
  await plantVersion(database, client.instanceId, 'of the instance');
  await plantVersion(database, client.id, 'of the client');
  return { integration, key, client, connection };
}

describeEachDatabase('what a key reaches', (under) => {
  test.each([true, false])(
    'its connection, with the instance and its version; set up: %s',
    async (configured) => {
      const database = await under.openMigrated();
      const { integration, key, client, connection } = await plantWorld(database, 'secret', configured);
      await expect(visitStore(database).findInstanceIntegration(HASH, connection.id)).resolves.toStrictEqual({
        key: {
          id: key.id,
          integrationId: integration.id,
          expiresAt: null,
          revokedAt: null,
          lastUsedAt: null,
        },
        version: 'of the instance',
        instanceIntegration: { instanceId: client.instanceId, configured },
      });
    },
  );

  test('a client of the instance of its connection, with the version of the client', async () => {
    const database = await under.openMigrated();
    const { client, connection } = await plantWorld(database, 'secret');
    await expect(visitStore(database).findClient(HASH, connection.id, client.id)).resolves.toMatchObject({
      version: 'of the client',
      instanceIntegration: { instanceId: client.instanceId, configured: true },
      client: client.id,
    });
  });

  test('neither the connection nor the clients of another integration, as if they were not there', async () => {
    const database = await under.openMigrated();
    const mine = await plantWorld(database, 'secret');
    const theirs = await plantWorld(database, 'other');
    const visits = visitStore(database);

    const foreign = await visits.findInstanceIntegration(HASH, theirs.connection.id);
    expect(foreign).toEqual(await visits.findInstanceIntegration(HASH, 'iin_missing'));
    expect(foreign).toEqual({ key: expect.objectContaining({ id: mine.key.id }), version: '' });
    const paths = [
      [theirs.connection.id, theirs.client.id],
      [theirs.connection.id, mine.client.id],
      ['iin_missing', mine.client.id],
    ] as const;
    for (const [connectionId, clientId] of paths) {
      expect(await visits.findClient(HASH, connectionId, clientId)).toEqual(foreign);
    }
  });

  test('no client of another instance, though the connection is its own', async () => {
    const database = await under.openMigrated();
    const { connection, client, key } = await plantWorld(database, 'secret');
    const { client: foreign } = await plantWorld(database, 'other');
    const visits = visitStore(database);

    const found = await visits.findClient(HASH, connection.id, foreign.id);
    expect(found).toEqual(await visits.findClient(HASH, connection.id, 'cli_missing'));
    expect(found).toEqual({
      key: expect.objectContaining({ id: key.id }),
      version: '',
      instanceIntegration: { instanceId: client.instanceId, configured: true },
    });
  });

  test('nothing at all when it is no key', async () => {
    const database = await under.openMigrated();
    const { connection, client } = await plantWorld(database, 'secret');
    const visits = visitStore(database);
    await expect(visits.findInstanceIntegration(hashSecret('x'), connection.id)).resolves.toBeUndefined();
    await expect(visits.findClient(hashSecret('x'), connection.id, client.id)).resolves.toBeUndefined();
  });
});
