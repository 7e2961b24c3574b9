import { expect, test } from '@jest/globals';
import { LATEST_MS } from '../../../src/domain/clock.js';
import { migrateToLatest, migratorOf } from '../../../src/store/migrate.js';
import { migrations } from '../../../src/store/migrations/index.js';
import { describeEachDatabase } from '../../support/databases.js';
import { plantIntegration } from '../rows.js';

/** The latest time of JavaScript, which earlier releases stored. */
const LATEST_DATE_MS = 8_640_000_000_000_000;

describeEachDatabase('keys and tokens of earlier releases', (under) => {
  test('end in the year 9999 if they ended later, and else when they did', async () => {
    const database = await under.open(await under.newEmptyPlace());
    const { patient } = database;
    await migratorOf(patient, migrations).migrateTo('0041-clients-in-order');
    const { id: integration_id } = await plantIntegration(database);
    const credentials = [LATEST_DATE_MS, LATEST_MS, 1, null].map((expires_at, index) => ({
      ...{ id: `id_${index}`, hash: `hash ${index}`, label: 'Label', created_at: 1, expires_at },
    }));
    const keys = credentials.map((key) => ({ ...key, integration_id, hint: 'ik_' }));
    const tokens = credentials.map((token) => ({ ...token, kind: 'platform' }));
    await patient
      .insertInto('api_keys')
      .values(keys as never)
      .execute();
    await patient
      .insertInto('service_tokens')
      .values(tokens as never)
      .execute();

    await migrateToLatest(patient);

    for (const table of ['api_keys', 'service_tokens'] as const) {
      const rows = await patient.selectFrom(table).orderBy('id').select('expires_at').execute();
      expect(rows.map(({ expires_at }) => expires_at)).toEqual([LATEST_MS, LATEST_MS, 1, null]);
    }
  });
});
