import { expect, test } from '@jest/globals';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { visitStore } from '../../../src/store/adapters/access.js';
import type { Database } from '../../../src/store/database.js';
import { describeEachDatabase } from '../../support/databases.js';
import { CREATED_AT, plantApiKey, plantIntegration, plantVersion } from '../rows.js';

const HOUR_MS = 3_600_000;

describeEachDatabase('API keys', (under) => {
  test('a key is found by its hash, with its times as numbers and the version of its integration', async () => {
    const database = await under.openMigrated();
    const integration = await plantIntegration(database);
    await plantVersion(database, integration.id, 'version-of-the-list');
    const times = { expires_at: CREATED_AT + 3, revoked_at: CREATED_AT + 2, last_used_at: CREATED_AT + 1 };
    const { id } = await plantApiKey(database, 'secret', { integration_id: integration.id, ...times });

    await expect(visitStore(database).findKey(hashSecret('secret'))).resolves.toStrictEqual({
      key: {
        id,
        integrationId: integration.id,
        expiresAt: CREATED_AT + 3,
        revokedAt: CREATED_AT + 2,
        lastUsedAt: CREATED_AT + 1,
      },
      version: 'version-of-the-list',
    });
  });

  test('times that are not set come back as null', async () => {
    const database = await under.openMigrated();
    const integration = await plantIntegration(database);
    await plantApiKey(database, 'secret', { integration_id: integration.id });

    const key = await visitStore(database).findKey(hashSecret('secret'));
    expect(key).toMatchObject({ key: { expiresAt: null, revokedAt: null, lastUsedAt: null } });
  });

  test('another hash finds nothing, and neither does the secret itself', async () => {
    const database = await under.openMigrated();
    const integration = await plantIntegration(database);
    await plantApiKey(database, 'secret', { integration_id: integration.id });

    const keys = visitStore(database);
    await expect(keys.findKey(hashSecret('Secret'))).resolves.toBeUndefined();
    await expect(keys.findKey(Buffer.from('secret'))).resolves.toBeUndefined();
    await expect(keys.findKey(new Uint8Array(0))).resolves.toBeUndefined();
  });

  test('each of several keys of one integration is found as itself', async () => {
    const database = await under.openMigrated();
    const integration = await plantIntegration(database);
    const first = await plantApiKey(database, 'first', { integration_id: integration.id });
    const second = await plantApiKey(database, 'second', { integration_id: integration.id });

    const keys = visitStore(database);
    expect((await keys.findKey(hashSecret('first')))?.key.id).toBe(first.id);
    expect((await keys.findKey(hashSecret('second')))?.key.id).toBe(second.id);
  });

  test.each<{ title: string; before: number | null; unlessSince: number; after: number }>([
    { title: 'is set when there is none', before: null, unlessSince: 900, after: 1_000 },
    { title: 'moves when it stands before the limit', before: 899, unlessSince: 900, after: 1_000 },
    { title: 'stays when it stands at the limit', before: 900, unlessSince: 900, after: 900 },
    { title: 'stays when it stands after the limit', before: 950, unlessSince: 900, after: 950 },
    { title: 'never moves back', before: 2_000, unlessSince: 900, after: 2_000 },
  ])('the last use $title', async ({ before, unlessSince, after }) => {
    const database = await under.openMigrated();
    const integration = await plantIntegration(database);
    const owner = { integration_id: integration.id };
    const { id } = await plantApiKey(database, 'secret', { ...owner, last_used_at: before });
    await plantApiKey(database, 'bystander', owner);

    const keys = visitStore(database);
    await keys.markUsed(id, 1_000, unlessSince);

    expect((await keys.findKey(hashSecret('secret')))?.key.lastUsedAt).toBe(after);
    expect((await keys.findKey(hashSecret('bystander')))?.key.lastUsedAt).toBeNull();
  });

  test('marking a key that is gone changes nothing and does not fail', async () => {
    const database = await under.openMigrated();
    await expect(visitStore(database).markUsed('key_gone', 1_000, 900)).resolves.toBeUndefined();
  });

  test('fifty calls at once note the last use once in each step', async () => {
    const database = await under.openMigrated();
    const integration = await plantIntegration(database);
    const { id } = await plantApiKey(database, 'secret', { integration_id: integration.id });
    const keys = visitStore(database);

    for (const step of [1, 2, 3]) {
      const times = Array.from({ length: 50 }, (_, index) => CREATED_AT + step * 2 * HOUR_MS + index);
      await Promise.all(times.map((at) => keys.markUsed(id, at, at - HOUR_MS)));
      const settled = (await keys.findKey(hashSecret('secret')))?.key.lastUsedAt;
      expect(times).toContain(settled);
      // Later ones of the step found the first and left it: had two changed it, this would move it again.
      await Promise.all(times.map((at) => keys.markUsed(id, at, at - HOUR_MS)));
      expect((await keys.findKey(hashSecret('secret')))?.key.lastUsedAt).toBe(settled);
    }
  });

  test('of fifty marks at once exactly one changes the row', async () => {
    const database = await under.openMigrated();
    const integration = await plantIntegration(database);
    const { id } = await plantApiKey(database, 'secret', { integration_id: integration.id });
    const changed = countingUpdates(database);

    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        visitStore(changed.database).markUsed(id, CREATED_AT + index, CREATED_AT - HOUR_MS),
      ),
    );
    expect(changed.rows()).toBe(1);
  });
});

/** The same database, adding up how many rows its updates changed. */
function countingUpdates(database: Database): { database: Database; rows(): number } {
  let rows = 0;
  const write: Database['write'] = (work) =>
    database.write((writer) =>
      work(
        writer.withPlugin({
          transformQuery: ({ node }) => node,
          transformResult: async ({ result }) => {
            rows += Number(result.numAffectedRows ?? 0);
            return result;
          },
        }),
      ),
    );
  return { database: { ...database, write }, rows: () => rows };
}
