import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { databaseChecks } from '../../../../src/cli/commands/doctor/database-checks.js';
import { writesSucceed } from '../../../../src/cli/commands/doctor/disk-checks.js';
import { examined } from '../../../../src/cli/commands/doctor/doctor-action.js';
import { makeSecretsKeys } from '../../../../src/keys/secrets-key.js';
import { databaseUnderTest } from '../../../support/databases.js';

const under = databaseUnderTest('PostgreSQL');

test('the checks of a sound database on PostgreSQL find nothing', async () => {
  const { dataDir, databaseUrl = '' } = await under.newPlace();
  const SECRETS_KEY_FILE = join(dataDir, 'secrets.key');
  makeSecretsKeys(SECRETS_KEY_FILE);
  const settings = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, SECRETS_KEY_FILE };
  const outcomes = await examined(settings, [...databaseChecks, writesSucceed]);
  const found = outcomes.filter(({ status }) => status !== 'ok');
  expect(found).toEqual([expect.objectContaining({ name: 'integrity', status: 'skipped' })]);
});

test('an unreachable database is an error, and its other checks are skipped', async () => {
  const settings = { DATA_DIR: '/not/there', DATABASE_URL: 'postgres://nothing@127.0.0.1:1/none' };
  const [database, ...others] = await examined(settings, databaseChecks);
  expect(database).toMatchObject({
    status: 'error',
    examples: [expect.stringContaining('The service cannot connect to PostgreSQL')],
  });
  expect(others.filter(({ status }) => status !== 'skipped')).toEqual([]);
});
