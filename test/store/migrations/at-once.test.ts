import { expect, test } from '@jest/globals';
import pg from 'pg';
import { openPostgres } from '../../../src/store/dialects/postgres/postgres.js';
import { migrateToLatest, schemaDrift } from '../../../src/store/migrate.js';
import { newPostgresDatabase, PATIENT } from '../../support/databases.js';

test.each(['read committed', 'serializable'])(
  'nodes that start together on PostgreSQL migrate one after another, where the default isolation is %s',
  async (isolation) => {
    const { url, drop } = await newPostgresDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const database = client.escapeIdentifier(new URL(url).pathname.slice(1));
    await client.query(`alter database ${database} set default_transaction_isolation = '${isolation}'`);
    await client.end();
    const nodes = await Promise.all([1, 2, 3].map(() => openPostgres(url, () => undefined, PATIENT)));
    try {
      await Promise.all(nodes.map(({ patient }) => migrateToLatest(patient)));
      for (const { patient } of nodes) {
        expect(await schemaDrift(patient)).toEqual({ missing: [], newer: [], required: [] });
      }
    } finally {
      await Promise.all(nodes.map(({ close }) => close()));
      await drop();
    }
  },
);
