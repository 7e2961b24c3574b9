import { expect, test } from '@jest/globals';
import { purgeStore } from '../../src/store/adapters/purge.js';
import type { Database } from '../../src/store/database.js';
import { describeEachDatabase } from '../support/databases.js';
import { CREATED_AT, plantApiKey, plantIntegration, plantServiceToken } from './rows.js';

const ENDED_BEFORE = CREATED_AT;

type Ends = { expires_at: number | null; revoked_at: number | null };

const KINDS = [
  {
    name: 'API keys',
    table: 'api_keys',
    plant: (database: Database, secret: string, owner: string, ends: Ends) =>
      plantApiKey(database, secret, { integration_id: owner, ...ends }),
    remove: (database: Database, limit: number) => purgeStore(database).removeApiKeys(ENDED_BEFORE, limit),
  },
  {
    name: 'service tokens',
    table: 'service_tokens',
    plant: (database: Database, secret: string, _owner: string, ends: Ends) =>
      plantServiceToken(database, secret, ends),
    remove: (database: Database, limit: number) =>
      purgeStore(database).removeServiceTokens(ENDED_BEFORE, limit),
  },
] as const;

type Kind = (typeof KINDS)[number];

describeEachDatabase('purge', (under) => {
  test.each(KINDS)('of $name removes what ended before the time given and nothing else', async (kind) => {
    const database = await under.openMigrated();
    const before = ENDED_BEFORE - 1;
    await plantAll(database, kind, {
      lasting: { expires_at: null, revoked_at: null },
      'expires later': { expires_at: ENDED_BEFORE + 1, revoked_at: null },
      'expires at that very time': { expires_at: ENDED_BEFORE, revoked_at: null },
      'revoked at that very time': { expires_at: null, revoked_at: ENDED_BEFORE },
      'revoked lately': { expires_at: ENDED_BEFORE + 5, revoked_at: ENDED_BEFORE + 1 },
      expired: { expires_at: before, revoked_at: null },
      revoked: { expires_at: null, revoked_at: before },
      'revoked before it would expire': { expires_at: ENDED_BEFORE + 5, revoked_at: before },
    });

    await expect(kind.remove(database, 100)).resolves.toBe(3);
    await expect(count(database, kind)).resolves.toBe(5);
    await expect(kind.remove(database, 100)).resolves.toBe(0);
  });

  test.each(KINDS)('of $name removes no more than a batch at a time', async (kind) => {
    const database = await under.openMigrated();
    await plantEnded(database, kind, 5);

    const removed: number[] = [];
    for (let batch = 0; batch < 4; batch += 1) {
      removed.push(await kind.remove(database, 2));
    }
    expect(removed).toEqual([2, 2, 1, 0]);
  });

  test('of one kind leaves the other alone', async () => {
    const database = await under.openMigrated();
    for (const kind of KINDS) {
      await plantEnded(database, kind, 1);
    }
    await KINDS[0].remove(database, 10);
    await expect(count(database, KINDS[0])).resolves.toBe(0);
    await expect(count(database, KINDS[1])).resolves.toBe(1);
  });

  test.each(KINDS)('of $name raced by many neither fails nor removes twice', async (kind) => {
    const database = await under.openMigrated();
    await plantEnded(database, kind, 40);
    await plantAll(database, kind, { lasting: { expires_at: null, revoked_at: null } });

    let removed = 0;
    while ((await count(database, kind)) > 1) {
      const batches = await Promise.all(Array.from({ length: 8 }, () => kind.remove(database, 3)));
      expect(Math.max(...batches)).toBeLessThanOrEqual(3);
      expect(Math.max(...batches)).toBeGreaterThan(0);
      removed += batches.reduce((sum, batch) => sum + batch, 0);
    }
    expect(removed).toBe(40);
  });
});

async function plantAll(database: Database, kind: Kind, rows: Record<string, Ends>): Promise<void> {
  const owner = await plantIntegration(database);
  await Promise.all(
    Object.entries(rows).map(([secret, ends]) => kind.plant(database, secret, owner.id, ends)),
  );
}

function plantEnded(database: Database, kind: Kind, amount: number): Promise<void> {
  const ends = { expires_at: ENDED_BEFORE - 1, revoked_at: null };
  return plantAll(
    database,
    kind,
    Object.fromEntries(Array.from({ length: amount }, (_, index) => [`ended ${index}`, ends])),
  );
}

async function count({ reader }: Database, { table }: Kind): Promise<number> {
  return (await reader.selectFrom(table).select('id').execute()).length;
}
