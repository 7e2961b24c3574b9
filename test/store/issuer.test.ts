import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { auditRows } from '../../src/store/adapters/operator/audit-events.js';
import { migrations } from '../../src/store/migrations/index.js';
import { reading, recordedIn } from '../../src/store/recorded.js';
import { openStore } from '../../src/store/store.js';
import { StoreError } from '../../src/store/store-error.js';
import { type DatabasePlace, describeEachDatabase, PATIENT } from '../support/databases.js';

const OLD = 'https://id.example.com';
const NEW = 'https://login.example.com';

async function start(place: DatabasePlace, issuer: string, replaces?: string): Promise<void> {
  const claimed = { issuer: { issuer, replaces } };
  const store = await openStore({ ...place, environment: 'live', limits: PATIENT, ...claimed });
  try {
    await store.claimIssuer();
  } finally {
    await store.close();
  }
}

describeEachDatabase('the issuer of a database', (under) => {
  test('is recorded by the first start; another one is refused until the settings name the replaced one', async () => {
    const place = await under.newPlace();
    await start(place, OLD);
    await start(place, OLD);
    const refused = start(place, NEW);
    await expect(refused).rejects.toBeInstanceOf(StoreError);
    await expect(refused).rejects.toThrow(`belongs to the issuer ${OLD}, and SIGN_ON_URL is ${NEW}`);
    await expect(start(place, NEW, 'https://other.example.com')).rejects.toThrow(
      `PREVIOUS_SIGN_ON_URL=${OLD} to replace it`,
    );
    expect(await reading(place, recordedIn)).toEqual({
      environment: 'live',
      issuer: OLD,
      missing: [],
      newer: [],
      required: [],
    });

    await start(place, NEW, OLD);
    await start(place, NEW, OLD);
    await expect(start(place, OLD)).rejects.toThrow(`belongs to the issuer ${NEW}`);
    expect(await reading(place, recordedIn)).toMatchObject({ issuer: NEW });
  });

  test('is in the audit log where a start replaces it, once', async () => {
    const place = await under.newPlace();
    await start(place, OLD);
    await start(place, NEW, OLD);
    await start(place, NEW, OLD);
    const { reader } = await under.open(place);
    const records = await auditRows(reader).page({ after: undefined, limit: 10 }, { types: [] });
    expect(records).toMatchObject([
      {
        type: 'issuer.replaced',
        actor: { type: 'service', id: 'start' },
        subject: { type: 'database', id: 'issuer' },
        attributes: { from: OLD, to: NEW },
      },
    ]);
  });

  test.each(['http://localhost:4000', 'http://127.0.0.1:4000', 'http://[::1]:4000'])(
    'may be replaced without a word while it is %s, which no other machine knows',
    async (local) => {
      const place = await under.newPlace();
      await start(place, local);
      await start(place, NEW);
      await expect(start(place, local)).rejects.toThrow(`belongs to the issuer ${NEW}`);
    },
  );

  test('is compared before the first migration, so that the version of its owner can still use it', async () => {
    const place = await under.newPlace();
    await start(place, OLD);
    const latest = Object.keys(migrations).sort().at(-1) as string;
    const { patient } = await under.open(place);
    // If the start migrated first, it would repeat this migration and fail.
    await sql`delete from kysely_migration where name = ${latest}`.execute(patient);
    await expect(start(place, NEW)).rejects.toThrow(`belongs to the issuer ${OLD}`);
    expect(await reading(place, recordedIn)).toMatchObject({ missing: [latest] });
  });

  test('is not recorded by a command that issues no tokens', async () => {
    const place = await under.newPlace();
    await (await under.openStore(place, 'live')).close();
    expect(await reading(place, recordedIn)).toMatchObject({ environment: 'live', issuer: null });
  });

  test('is that of one node where several start at once with different ones', async () => {
    const place = await under.newPlace();
    const outcomes = await Promise.allSettled([start(place, OLD), start(place, NEW)]);
    const { issuer } = await reading(place, recordedIn);
    expect(outcomes.map(({ status }) => status)).toEqual(
      [OLD, NEW].map((each) => (each === issuer ? 'fulfilled' : 'rejected')),
    );
  });
});
