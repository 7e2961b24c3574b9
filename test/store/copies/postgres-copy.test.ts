import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { factsOf } from '../../../src/store/copies/copy-facts.js';
import { dumpPostgres, undumpPostgres } from '../../../src/store/copies/postgres-copy.js';
import { readValid, refuseOtherRelease, takeCopy } from '../../../src/store/copies/take-copy.js';
import { RESTORE_MARK } from '../../../src/store/migrate.js';
import { reading, recordedIn } from '../../../src/store/recorded.js';
import { StoreError } from '../../../src/store/store-error.js';
import { databaseUnderTest } from '../../support/databases.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const directory = temporaryDirectories();
const under = databaseUnderTest('PostgreSQL');

test.each([
  ['postgres://me:hush%2Fhush@db.example/it?options=-c%20a%3Db', 'me@db.example/it?options=-c%20a%3Db'],
  [
    'postgres://me:other@db.example/it?password=hush%2Fhush&options=-c%20a%3Db&sslpassword=hush-key',
    'me@db.example/it?options=-c%20a%3Db',
  ],
  ['postgres://me@db.example/it?pass%77ord=hush%2Fhush', 'me@db.example/it'],
])('the programs of PostgreSQL get no password in their arguments, of %s', async (url, shown) => {
  const folder = directory();
  const script = `#!/bin/sh\necho "$PGPASSWORD: $*" >&2\nexit 3\n`;
  writeFileSync(join(folder, 'pg_restore'), script, { mode: 0o755 });
  await expect(undumpPostgres(url, 'dump', { PATH: folder })).rejects.toThrow(
    `pg_restore failed with exit code 3: hush/hush: --exit-on-error --single-transaction --no-owner --no-privileges dump --no-password --dbname=postgres://${shown}`,
  );
});

test('a database that a restore has not settled is neither checked, copied nor listed', async () => {
  const place = await under.newPlace();
  const { patient } = await under.open(place);
  await patient.schema.createTable(RESTORE_MARK).addColumn('since', 'bigint').execute();
  const target = join(directory(), 'dump');
  for (const use of [
    () => reading(place, recordedIn),
    () => readValid(place, 1),
    () => refuseOtherRelease(place),
    () => takeCopy(place, target, 1, { PATH: '' }),
  ]) {
    await expect(use()).rejects.toEqual(
      new StoreError(
        'A restore into this database is not complete. If none is running, create a new database and run `integration restore` again.',
      ),
    );
  }
});

test('what is read beside a dump is of one moment, that of the dump, while the service writes', async () => {
  const place = await under.newPlace();
  await (await under.openStore(place)).close();
  const { write } = await under.open(place);
  const folder = directory();
  const target = join(folder, 'dump');
  writeFileSync(join(folder, 'pg_dump'), `#!/bin/sh\n: > '${target}'\n`, { mode: 0o755 });
  const { databaseUrl = '' } = place;
  const [before, after] = await dumpPostgres(databaseUrl, target, { PATH: folder }, async (reader) => {
    const first = await factsOf(reader);
    await write((writer) =>
      writer.insertInto('required_migrations').values({ name: '0000-meanwhile' }).execute(),
    );
    return [first, await factsOf(reader)];
  });
  expect(after).toEqual(before);
});
