import { expect, test } from '@jest/globals';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { serviceTokenStore } from '../../../src/store/adapters/access.js';
import { describeEachDatabase } from '../../support/databases.js';
import { CREATED_AT, plantServiceToken } from '../rows.js';

describeEachDatabase('service tokens', (under) => {
  test.each(['operator', 'platform'] as const)(
    'an %s token is found by its hash, with its times',
    async (kind) => {
      const database = await under.openMigrated();
      const times = { expires_at: CREATED_AT + 2, revoked_at: CREATED_AT + 1 };
      const { id } = await plantServiceToken(database, 'secret', { kind, ...times });
      await plantServiceToken(database, 'another');

      await expect(serviceTokenStore(database).findByHash(hashSecret('secret'))).resolves.toStrictEqual({
        id,
        kind,
        expiresAt: CREATED_AT + 2,
        revokedAt: CREATED_AT + 1,
        lastUsedAt: null,
        instanceId: null,
        ownerId: null,
      });
    },
  );

  test('a token that lasts has null for its times', async () => {
    const database = await under.openMigrated();
    await plantServiceToken(database, 'secret');

    const token = await serviceTokenStore(database).findByHash(hashSecret('secret'));
    expect(token).toMatchObject({ expiresAt: null, revokedAt: null });
  });

  test('another hash finds nothing', async () => {
    const database = await under.openMigrated();
    await plantServiceToken(database, 'secret');

    await expect(serviceTokenStore(database).findByHash(hashSecret('secret '))).resolves.toBeUndefined();
  });
});
