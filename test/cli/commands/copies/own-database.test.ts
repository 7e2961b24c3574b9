import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { inDatabase } from '../../../../src/cli/commands/copies/own-database.js';
import { factsOf } from '../../../../src/store/copies/copy-facts.js';
import { readValid } from '../../../../src/store/copies/take-copy.js';
import { reading, recordedIn } from '../../../../src/store/recorded.js';
import { CopyError } from '../../../../src/store/store-error.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { spoilTable } from '../../../support/sqlite/spoilt-table.js';

const under = databaseUnderTest('SQLite');
const postgres = databaseUnderTest('PostgreSQL');

test('a write that the disk refuses fails with the words of the database', async () => {
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  const refused = inDatabase(await under.newPlace(), ({ write }) => write(() => Promise.reject(full)));
  await expect(refused).rejects.toBeInstanceOf(CopyError);
  await expect(refused).rejects.toThrow(
    /^The database refuses this: SQLITE_FULL: database or disk is full\.$/,
  );
});

test('a damaged database is called so, by commands that read and by those that write', async () => {
  const place = await under.newPlace();
  spoilTable(join(place.dataDir, 'integration.db'), 'environment');
  const damage = 'The database is damaged: database disk image is malformed.';
  await expect(readValid(place, 0)).rejects.toThrow(damage);
  await expect(inDatabase(place, ({ reader }) => recordedIn(reader))).rejects.toThrow(damage);
});

test('a database with damaged deliveries, which cannot be copied, still gives a list of what is valid', async () => {
  const place = await under.newPlace();
  await (await under.openStore(place)).close();
  spoilTable(join(place.dataDir, 'integration.db'), 'deliveries');
  await expect(reading(place, (reader) => factsOf(reader, 0))).rejects.toThrow('The database is damaged');
  const { origin, valid } = await readValid(place, 0);
  expect(origin).toEqual({
    ...{ environment: 'demo', environmentMadeAt: expect.any(Number), changedAt: expect.any(Number) },
  });
  expect(valid.apiKeys).toEqual({});
});

test('what PostgreSQL refuses is a sentence too', async () => {
  const place = await postgres.newPlace();
  const refused = reading(place, (reader) => sql`select lo_get(0)`.execute(reader));
  await expect(refused).rejects.toBeInstanceOf(CopyError);
  await expect(refused).rejects.toThrow(/^The database refuses this: large object 0 does not exist\.$/);
});
