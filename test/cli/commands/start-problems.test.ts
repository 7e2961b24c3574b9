import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useKeys } from '../../../src/cli/commands/copies/own-database.js';
import { startProblems } from '../../../src/cli/commands/start-problems.js';
import { loadConfig } from '../../../src/config/config.js';
import { makeSecretsKeys } from '../../../src/keys/secrets-key.js';
import { openStore } from '../../../src/store/store.js';
import { migratedSqliteFile } from '../../support/sqlite/template.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { integration } from '../typed.js';

const directory = temporaryDirectories();
const ISSUER = 'https://id.example.com';

/** Of an environment that was made, and of which the domain has used the key. */
async function usedPlace(): Promise<{ DATA_DIR: string; SECRETS_KEY_FILE: string }> {
  const DATA_DIR = directory();
  const SECRETS_KEY_FILE = join(directory(), 'secrets.key');
  copyFileSync(await migratedSqliteFile(), join(DATA_DIR, 'integration.db'));
  const store = await openStore({ dataDir: DATA_DIR, environment: 'live', issuer: { issuer: ISSUER } });
  await store.claimIssuer();
  await useKeys({ seals: store.seals, chainRecords: () => undefined }, makeSecretsKeys(SECRETS_KEY_FILE));
  await store.close();
  return { DATA_DIR, SECRETS_KEY_FILE };
}

test('an unused database, or one that fits, has no problems', async () => {
  expect(await startProblems(loadConfig({ DATA_DIR: directory() }))).toEqual([]);
  expect(await startProblems(loadConfig({ ...(await usedPlace()), SIGN_ON_URL: ISSUER }))).toEqual([]);
});

test('a database of another issuer or environment is a problem, unless the check is offline', async () => {
  const place = await usedPlace();
  const other = loadConfig({ ...place, SIGN_ON_URL: 'https://login.example.com' });
  expect(await startProblems(other)).toEqual([
    expect.stringContaining(`The database belongs to the issuer ${ISSUER}, and SIGN_ON_URL is`),
  ]);
  expect(await startProblems(other, { offline: true })).toEqual([]);
  expect(
    await startProblems(
      loadConfig({ ...place, SIGN_ON_URL: 'https://x.example', PREVIOUS_SIGN_ON_URL: ISSUER }),
    ),
  ).toEqual([]);
  expect(await startProblems(loadConfig({ ...place, ENVIRONMENT: 'demo' }))).toEqual([
    'The database belongs to the live environment, and ENVIRONMENT is demo.',
  ]);
});

test('a database without its key file, or with that of another one, is a problem', async () => {
  const place = { ...(await usedPlace()), SIGN_ON_URL: ISSUER };
  const lost = loadConfig({ ...place, SECRETS_KEY_FILE: join(directory(), 'secrets.key') });
  expect(await startProblems(lost)).toEqual([
    expect.stringMatching(/^There is no key file at .*secrets\.key\. /),
  ]);
  expect(await startProblems(lost, { offline: true })).toEqual([]);

  const other = loadConfig({ ...place, SECRETS_KEY_FILE: (await usedPlace()).SECRETS_KEY_FILE });
  expect(await startProblems(other)).toEqual([
    expect.stringMatching(/^The key file .*secrets\.key lacks ek_[0-9a-f]{16}, which the database needs\.$/),
  ]);
});

test('invalid certificates, a damaged key file and an unreachable database are problems', async () => {
  const folder = directory();
  const path = join(folder, 'file');
  writeFileSync(path, 'no certificate', { mode: 0o600 });
  const tls = { GRPC_TLS_CERT_FILE: path, GRPC_TLS_KEY_FILE: path, TEMPORAL_TLS_CA_FILE: path };
  const found = await startProblems(
    loadConfig({
      ...{ ...tls, DATA_DIR: folder, SECRETS_KEY_FILE: path },
      DATABASE_URL: 'postgres://nothing@127.0.0.1:1/none',
    }),
  );
  expect(found).toEqual([
    expect.stringMatching(/^What GRPC_TLS_CERT_FILE, GRPC_TLS_KEY_FILE names cannot be used: /),
    expect.stringMatching(/^The key file .* holds neither a key/),
    expect.stringMatching(/^The service cannot connect to PostgreSQL: /),
  ]);
});

test('config check says that the service can start, or all that is wrong', async () => {
  const fine = await integration(['config', 'check'], { DATA_DIR: directory() });
  expect(fine).toEqual({ code: 0, stdout: 'The service can start with these settings.\n', stderr: '' });

  const doubtful = await integration(['config', 'check'], { DATA_DIR: directory(), LOGLEVEL: 'x' });
  expect([doubtful.code, doubtful.stderr]).toEqual([
    0,
    expect.stringMatching(/^Warning: LOGLEVEL is not a setting; did you mean LOG_LEVEL\?/),
  ]);

  const wrong = { GATEWAY_PORTT: '1', EVENT_RETENTION: '0s' };
  const { code, stdout, stderr } = await integration(['config', 'check'], wrong);
  expect([code, stdout]).toEqual([78, '']);
  expect(stderr).toBe(
    [
      'The settings cannot be used:',
      '  - EVENT_RETENTION must be between 1s and 999999d',
      '  - GATEWAY_PORTT is not a setting; did you mean GATEWAY_PORT? Rename or remove it, or name it in FOREIGN_VARIABLES if another program reads it',
      '',
    ].join('\n'),
  );
});

test('a start refuses the same', async () => {
  const { code, stderr } = await integration(['domain'], { GATEWAY_PORTT: '1' });
  expect([code, stderr]).toEqual([78, expect.stringContaining('did you mean GATEWAY_PORT?')]);
});
