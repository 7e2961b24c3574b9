import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { useKeys } from '../../../src/cli/commands/copies/own-database.js';
import { startProblems } from '../../../src/cli/commands/start-problems.js';
import { loadConfig } from '../../../src/config/config.js';
import { LOST_AUDIT_KEY, makeSecretsKeys } from '../../../src/keys/secrets-key.js';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import { RESTORE_STAGE } from '../../../src/store/data-directory.js';
import { writeMoved } from '../../../src/store/moves/moved-file.js';
import { openStore } from '../../../src/store/store.js';
import { databaseUnderTest } from '../../support/databases.js';
import { root } from '../../support/service-process.js';
import { migratedSqliteFile } from '../../support/sqlite/template.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { integration, sharedIntegration } from '../typed.js';

const directory = temporaryDirectories();
const postgres = databaseUnderTest('PostgreSQL');
const run = promisify(execFile);
const source = (path: string) => JSON.stringify(join(root, 'src', path));
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

function change(dataDir: string, statements: string): void {
  const database = new Sqlite(join(dataDir, 'integration.db'));
  database.exec(statements);
  database.close();
}

test('a demo or an edge that was never started, or a database that fits, has no problems', async () => {
  expect(await startProblems(loadConfig({ ENVIRONMENT: 'demo', DATA_DIR: directory() }))).toEqual([]);
  const edge = loadConfig({ DOMAIN_ADDRESS: '127.0.0.1:4004', EDGE_TOKEN: 'e'.repeat(32) });
  expect(await startProblems(edge, { role: 'edge' })).toEqual([]);
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

test('an incomplete restore, or a database that was moved and deleted, is a problem', async () => {
  const problemsIn = (DATA_DIR: string) => startProblems(loadConfig({ ENVIRONMENT: 'demo', DATA_DIR }));
  const [restoring, moved] = [directory(), directory()];
  mkdirSync(join(restoring, RESTORE_STAGE));
  expect(await problemsIn(restoring)).toEqual([
    expect.stringMatching(/^A restore into .* is not complete\. /),
  ]);
  writeMoved(moved, { at: 0, to: 'postgres://db.example.com/integration' });
  expect(await problemsIn(moved)).toEqual([expect.stringMatching(/ was moved to PostgreSQL /)]);
});

test('a live environment that was not made is a problem, unless the check is offline', async () => {
  const config = loadConfig({ DATA_DIR: directory() });
  expect(await startProblems(config)).toEqual([
    expect.stringMatching(/^There is no key file at .*secrets\.key\. `integration init` makes it/),
    expect.stringMatching(
      /^There is no database in .*\. In live, `integration restore` brings one back from/,
    ),
  ]);
  expect(await startProblems(config, { offline: true })).toEqual([]);
});

test('an empty database in live is a problem, which the check leaves empty', async () => {
  const { SECRETS_KEY_FILE } = await usedPlace();
  const { dataDir, databaseUrl = '' } = await postgres.newEmptyPlace();
  const unmade = loadConfig({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl, SECRETS_KEY_FILE });
  const problem = expect.stringMatching(
    /^The database belongs to no environment: it is empty, or of another program\. Set DATABASE_URL .* `integration init` makes/,
  );
  expect([await startProblems(unmade), await startProblems(unmade)]).toEqual([[problem], [problem]]);
  expect(await startProblems(unmade, { offline: true })).toEqual([]);
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

test('the key is looked at before an upgrade, too, unless the release before did not record it', async () => {
  const place = { ...(await usedPlace()), SIGN_ON_URL: ISSUER };
  const other = loadConfig({ ...place, SECRETS_KEY_FILE: (await usedPlace()).SECRETS_KEY_FILE });
  change(place.DATA_DIR, "delete from kysely_migration where name > '0033-shared-mailboxes'");
  expect(await startProblems(other)).toEqual([expect.stringMatching(/ lacks ek_[0-9a-f]{16}, which /)]);
  expect(await startProblems(loadConfig(place))).toEqual([]);
  change(
    place.DATA_DIR,
    "delete from kysely_migration where name > '0005-webhooks'; drop table encryption_keys",
  );
  expect(await startProblems(other)).toEqual([]);
});

test('a database that lost the key of its audit log is a problem', async () => {
  const place = { ...(await usedPlace()), SIGN_ON_URL: ISSUER };
  change(
    place.DATA_DIR,
    `insert into audit_events (id, chain, seq, type, outcome, actor_type, actor_id, subject_type, subject_id, attributes, created_at)
      values ('aud_1', 'chain', 1, 't', 'succeeded', 'a', 'a', 's', 's', '{}', 1)`,
  );
  expect(await startProblems(loadConfig(place))).toEqual([]);
  change(place.DATA_DIR, "delete from token_keys where purpose = 'audit'");
  expect(await startProblems(loadConfig(place))).toEqual([LOST_AUDIT_KEY]);
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

test('a data directory that cannot be made or written is a problem, and one that a start makes is none', async () => {
  const folder = directory();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const ofDataDir = (DATA_DIR: string, more = {}) =>
    startProblems(loadConfig({ ...more, DATA_DIR }), { offline: true });
  expect(await ofDataDir(join(folder, 'new', 'live'))).toEqual([]);
  expect(existsSync(join(folder, 'new'))).toBe(false);
  for (const path of [file, join(file, 'live'), join(file, 'a', 'live')]) {
    const problem = `DATA_DIR names ${path}, which cannot be a directory: ${file} is a file.`;
    expect(await ofDataDir(path)).toEqual([problem]);
  }
  // A role by itself keeps neither database nor sockets there.
  const elsewhere = {
    ...{ DATA_DIR: file, DOMAIN_ADDRESS: '127.0.0.1:4004', ROLES_ADDRESS: '127.0.0.1:4004' },
    ...{ DATABASE_URL: 'postgres://localhost/integration', EDGE_TOKEN: 'e'.repeat(32) },
  };
  for (const role of ['domain', 'edge'] as const) {
    expect(await startProblems(loadConfig(elsewhere), { offline: true, role })).toEqual([]);
  }

  const { code, stdout, stderr } = await integration(['config', 'check', '--offline'], { DATA_DIR: file });
  expect([code, stdout, stderr]).toEqual([78, '', expect.stringContaining(`  - DATA_DIR names ${file}`)]);
});

test('so is one with a path too long for sockets, which a domain by itself can have elsewhere', async () => {
  const DATA_DIR = join(directory(), 'd'.repeat(100));
  const problem = (file: string, settings: string) =>
    `The path ${DATA_DIR}/run/${file} is too long for a socket. Set ${settings} to a shorter one.`;
  const [ofServe, ofDomain] = [
    problem('worker.ops.sock', 'DATA_DIR'),
    problem('domain.sock', 'DATA_DIR or DOMAIN_ADDRESS'),
  ];
  const found = (more = {}, options = {}) =>
    startProblems(loadConfig({ DATA_DIR, ...more }), { offline: true, ...options });
  expect(await found()).toEqual([ofServe, ofDomain]);
  expect(await found({}, { role: 'domain' })).toEqual([ofDomain]);
  expect(await found({ DOMAIN_ADDRESS: 'unix:/run/domain.sock' }, { role: 'domain' })).toEqual([]);
  const EDGE_TOKEN = 'e'.repeat(32);
  expect(await found({ DOMAIN_ADDRESS: '127.0.0.1:4004', EDGE_TOKEN }, { role: 'edge' })).toEqual([]);
});

test('so is, without a role, what `serve` refuses because it starts a domain and an edge', async () => {
  const settings = { DATA_DIR: directory(), DOMAIN_ADDRESS: 'localhost:4005' };
  expect(await startProblems(loadConfig({ ...settings, EDGE_TOKEN: `sha256:${'x'.repeat(43)}` }))).toEqual([
    'EDGE_TOKEN must be the token itself for the edge: only the domain accepts a hash',
    expect.stringMatching(/^Edge and worker could not reach this domain: /),
    expect.stringMatching(/^There is no key file at /),
    expect.stringMatching(/^There is no database in /),
  ]);
});

test('so are tokens that `serve` would make for itself alone, if other domains are to know them', async () => {
  const problemsAt = (DOMAIN_ADDRESS: string, tokens = {}) =>
    startProblems(
      loadConfig({ DATA_DIR: directory(), DOMAIN_ADDRESS, ROLES_ADDRESS: '127.0.0.1:4005', ...tokens }),
      { offline: true },
    );
  const [own, both, named] = ['127.0.0.1:4005', '127.0.0.1:4005,127.0.0.2:4005', 'dns:///localhost:4005'];
  const settings = ['EDGE_TOKEN', 'RELAY_TOKEN', 'MAINTENANCE_TOKEN'];
  const problems = settings.map((name) =>
    expect.stringContaining(`${name} must be set, the same on all machines: DOMAIN_ADDRESS names several`),
  );
  expect(await problemsAt(own)).toEqual([]);
  expect(await problemsAt(both)).toEqual(problems);
  expect(await problemsAt(named)).toEqual(problems);
  const tokens = Object.fromEntries(settings.map((name) => [name, name.padEnd(32, 'x')]));
  expect(await problemsAt(both, tokens)).toEqual([]);
});

test('so is one in a directory that the user of the service may not write', async () => {
  const closed = directory();
  chmodSync(closed, 0o500);
  const DATA_DIR = join(closed, 'live');
  // Root may write everywhere, so the process gives up being root, after it has loaded all modules.
  const script = `
    import { startProblems } from ${source('cli/commands/start-problems.ts')};
    import { loadConfig } from ${source('config/config.ts')};
    if (process.getuid() === 0) process.setuid(65534);
    process.stdout.write(JSON.stringify(await startProblems(loadConfig({ DATA_DIR: process.env.DATA_DIR }), { offline: true })));`;
  const node = ['--import', 'tsx', '--input-type=module', '-e', script];
  const { stdout } = await run(process.execPath, node, { cwd: root, env: { DATA_DIR } });
  expect(JSON.parse(stdout)).toEqual([
    expect.stringMatching(
      /^DATA_DIR names \S+, which cannot be made: this user may not write \S+ \(EACCES\)\.$/,
    ),
  ]);
});

test('config check says that the service can start, or all that is wrong', async () => {
  const demo = { ENVIRONMENT: 'demo', DATA_DIR: directory() };
  const fine = await integration(['config', 'check'], demo);
  expect(fine).toEqual({ code: 0, stdout: 'The service can start with these settings.\n', stderr: '' });

  const doubtful = await integration(['config', 'check'], { ...demo, LOGLEVEL: 'x' });
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

test('config check of one role reads no files of the others, and knows what it needs by itself', async () => {
  const shared = {
    ...{ DATA_DIR: directory(), TEMPORAL_ADDRESS: 'temporal.example.com:7233', TEMPORAL_TLS: 'on' },
    ...{ TEMPORAL_API_KEY_FILE: '/none', TEMPORAL_TLS_CA_FILE: '/none', EDGE_TOKEN: 'e'.repeat(32) },
  };
  const check = async (role: string, more = {}) => {
    const args = ['config', 'check', '--offline', '--role', role];
    const { code, stdout, stderr } = await sharedIntegration(args, { ...shared, ...more });
    return [code, code === 0 ? stdout : stderr];
  };
  for (const role of ['domain', 'edge']) {
    expect(await check(role)).toEqual([0, `The ${role} can start with these settings.\n`]);
  }
  const refused = (problem: string) => [78, expect.stringContaining(`  - ${problem}`)];
  expect(await check('edge', { EDGE_TOKEN: '' })).toEqual(refused('EDGE_TOKEN must be set to run the edge'));
  expect(await check('domain', { DOMAIN_ADDRESS: 'domain.internal:4005' })).toEqual(
    refused('Edge and worker could not reach this domain: '),
  );
  expect(await check('worker')).toEqual(refused('TEMPORAL_API_KEY_FILE names a file that does not exist'));
  expect(await check('worker', { TEMPORAL_API_KEY_FILE: '' })).toEqual([
    78,
    expect.stringMatching(
      /- RELAY_TOKEN must be set .*\n.*- MAINTENANCE_TOKEN must be set .*\n.*TEMPORAL_TLS_CA_FILE/,
    ),
  ]);
  const { code } = await sharedIntegration(['config', 'check', '--offline'], shared);
  expect(code).toBe(78);
});

test('a start refuses the same', async () => {
  const { code, stderr } = await integration(['domain'], { GATEWAY_PORTT: '1' });
  expect([code, stderr]).toEqual([78, expect.stringContaining('did you mean GATEWAY_PORT?')]);
});
