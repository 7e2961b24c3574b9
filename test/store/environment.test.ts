import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { StoreError } from '../../src/store/store-error.js';
import { type DatabasePlace, databaseUnderTest, describeEachDatabase } from '../support/databases.js';
import { runScript } from '../support/run-script.js';

describeEachDatabase('the environment of a database', (under) => {
  test.each([
    { owner: 'live', other: 'demo' },
    { owner: 'demo', other: 'live' },
  ] as const)('is $owner for good once $owner used it: $other is refused', async ({ owner, other }) => {
    const place = await under.newEmptyPlace();
    await (await under.openStore(place, owner)).close();

    const refusal = under.openStore(place, other);
    await expect(refusal).rejects.toBeInstanceOf(StoreError);
    await expect(refusal).rejects.toThrow(
      `belongs to the ${owner} environment, and ENVIRONMENT is ${other}.`,
    );
    await expect(under.openStore(place, owner)).resolves.toBeDefined();
  });

  test('is begun by a demo and by `init`, and not by a start of live, which makes nothing', async () => {
    const [missing, empty] = [await under.newEmptyPlace(), await under.newPlace()];
    const started = (place: DatabasePlace, environment: 'live' | 'demo') =>
      under.openStore(place, environment, { existing: true });
    const refusal =
      under.kind === 'SQLite' ? /^There is no database in / : /^The database belongs to no environment: /;
    await expect(started(missing, 'live')).rejects.toThrow(refusal);
    await expect(started(empty, 'live')).rejects.toThrow(
      /^The database belongs to no environment: .* `integration init` /,
    );

    expect(existsSync(join(missing.dataDir, 'integration.db'))).toBe(false);
    const { reader } = await under.open(missing);
    expect(await reader.introspection.getTables({ withInternalKyselyTables: true })).toEqual([]);
    const opened = await under.open(empty);
    expect(await opened.reader.selectFrom('environment').selectAll().execute()).toEqual([]);

    await expect(started(missing, 'demo')).resolves.toBeDefined();
    await (await under.openStore(empty, 'live')).close();
    await expect(started(empty, 'live')).resolves.toBeDefined();
  });
});

describe('a start of live', () => {
  const sqlite = databaseUnderTest('SQLite');

  test('does not call a database file missing that it cannot reach', async () => {
    const place = await sqlite.newEmptyPlace();
    mkdirSync(place.dataDir, { recursive: true });
    symlinkSync('integration.db', join(place.dataDir, 'integration.db'));
    const started = sqlite.openStore(place, 'live', { existing: true });
    await expect(started).rejects.toThrow(/^The database cannot be read: ELOOP: /);
  });
});

describe('the environment of a database that several processes start on at once', () => {
  const sqlite = databaseUnderTest('SQLite');
  const postgres = databaseUnderTest('PostgreSQL');

  test.each([sqlite, postgres])(
    'is that of one of them, and the others are refused, on $kind',
    async (under) => {
      const place = await under.newEmptyPlace();
      const wanted = ['live', 'demo', 'live'] as const;
      const outcomes = await Promise.all(
        wanted.map((environment) =>
          runScript('test/store/open-store.child.ts', [JSON.stringify({ ...place, environment })]),
        ),
      );

      const owner = outcomes[1] === 'opened' ? 'demo' : 'live';
      expect(outcomes).toEqual(
        wanted.map((environment) =>
          environment === owner
            ? 'opened'
            : `StoreError: The database belongs to the ${owner} environment, and ENVIRONMENT is ${environment}.`,
        ),
      );
    },
  );
});
