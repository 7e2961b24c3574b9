import { copyFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { DoctorCheck, Outcome } from '../../../../src/cli/commands/doctor/check.js';
import { databaseChecks } from '../../../../src/cli/commands/doctor/database-checks.js';
import { examined, exitCodeOf } from '../../../../src/cli/commands/doctor/doctor-action.js';
import { keyFileIsUsable } from '../../../../src/cli/commands/doctor/file-checks.js';
import { Sqlite } from '../../../../src/store/better-sqlite3.js';
import { freePorts } from '../../../support/free-ports.js';
import { spoilIndex } from '../../../support/sqlite/spoilt-index.js';
import { migratedSqliteFile } from '../../../support/sqlite/template.js';
import { doctorRig } from './rig.js';

const { directory, outcomeOf } = doctorRig();

test('a machine of an edge or worker needs no database and no key file', async () => {
  const here = { DOMAIN_ADDRESS: 'domain.internal:4005' };
  const [database] = databaseChecks as [DoctorCheck, ...DoctorCheck[]];
  for (const check of [keyFileIsUsable, database]) {
    expect(await outcomeOf(check, here)).toMatchObject({ status: 'skipped', reason: 'no domain runs here' });
    const asDomain = { ...here, ROLES_ADDRESS: '127.0.0.1:4005' };
    expect(await outcomeOf(check, asDomain)).toMatchObject({ status: 'error' });
  }
  const shared = { ...here, DATABASE_URL_FILE: '/not/there' };
  expect(await outcomeOf(database, shared)).toMatchObject({ status: 'skipped' });
  const [port] = await freePorts(1);
  const unreachable = { ...here, DATABASE_URL: `postgres://u@127.0.0.1:${port}/x` };
  expect(await outcomeOf(database, unreachable)).toMatchObject({ status: 'error' });
});

test('a large file is not called sound unless its pages are read', async () => {
  const DATA_DIR = directory();
  const database = join(DATA_DIR, 'integration.db');
  copyFileSync(await migratedSqliteFile(), database);
  const check = databaseChecks.filter(({ name }) => name === 'integrity');
  expect(await examined({ DATA_DIR }, check)).toMatchObject([{ status: 'ok' }]);
  truncateSync(database, 257 * 1_048_576);
  const reason = 'the file has 257 MiB; --thorough checks it, and a backup checks its copy';
  const [outcome] = await examined({ DATA_DIR }, check);
  expect([outcome, exitCodeOf([outcome as Outcome])]).toMatchObject([{ status: 'skipped', reason }, 0]);
  expect(await examined({ DATA_DIR }, check, true)).toMatchObject([{ detail: '257 MiB checked.' }]);
});

test('only a thorough check of the file compares its indexes with its rows', async () => {
  const DATA_DIR = directory();
  const file = join(DATA_DIR, 'integration.db');
  copyFileSync(await migratedSqliteFile(), file);
  const database = new Sqlite(file);
  database.exec("insert into attempt_counts (subject, count, ends_at) values ('a', 1, 5)");
  database.close();
  spoilIndex(file, 'attempt_counts_by_end', 'update attempt_counts set ends_at = 6');
  const check = databaseChecks.filter(({ name }) => name === 'integrity');
  expect(await examined({ DATA_DIR }, check)).toMatchObject([{ status: 'ok' }]);
  expect(await examined({ DATA_DIR }, check, true)).toMatchObject([
    { status: 'error', examples: ['row 1 missing from index attempt_counts_by_end'] },
  ]);
});
