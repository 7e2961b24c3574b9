import { chmodSync, copyFileSync, mkdirSync, realpathSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  certificatesAreUsable,
  noCertificateExpiresSoon,
} from '../../../../src/cli/commands/doctor/certificate-checks.js';
import type { DoctorCheck, Outcome } from '../../../../src/cli/commands/doctor/check.js';
import { databaseChecks } from '../../../../src/cli/commands/doctor/database-checks.js';
import {
  diskHasRoom,
  writeAheadLogIsShort,
  writesSucceed,
} from '../../../../src/cli/commands/doctor/disk-checks.js';
import { examined, exitCodeOf } from '../../../../src/cli/commands/doctor/doctor-action.js';
import {
  keyFileIsUsable,
  secretsArePrivate,
  userOwnsTheData,
} from '../../../../src/cli/commands/doctor/file-checks.js';
import { portsAreFree, serviceIsReady } from '../../../../src/cli/commands/doctor/port-checks.js';
import {
  noInsecureSettingIsAllowed,
  noNameIsRefused,
  noNameLooksMisspelt,
} from '../../../../src/cli/commands/doctor/settings-checks.js';
import { temporalChecks } from '../../../../src/cli/commands/doctor/temporal-checks.js';
import { makeSecretsKeys } from '../../../../src/keys/secrets-key.js';
import { isUnclosed, openStore } from '../../../../src/store/store.js';
import { freePorts } from '../../../support/free-ports.js';
import { selfSignedCertificate } from '../../../support/self-signed-certificate.js';
import { migratedSqliteFile } from '../../../support/sqlite/template.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';

const directory = temporaryDirectories();
const DAY_MS = 86_400_000;
const closings: (() => Promise<unknown> | unknown)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0)) {
    await close();
  }
});

async function outcomeOf(check: DoctorCheck, settings: Record<string, string> = {}): Promise<Outcome> {
  const [outcome] = await examined({ DATA_DIR: directory(), ...settings }, [check]);
  return outcome as Outcome;
}

function file(content: string, mode = 0o600, name = 'file'): string {
  const path = join(directory(), name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

describe('settings', () => {
  test('that are misspelt are reported with the setting that was meant', async () => {
    const given = { GATEWAY_PROT: '1', WEBHOOK_X: '', PATH: '/bin' };
    expect(await outcomeOf(noNameIsRefused, given)).toMatchObject({
      status: 'error',
      examples: ['GATEWAY_PROT is not a setting; did you mean GATEWAY_PORT?'],
    });
    expect(await outcomeOf(noNameLooksMisspelt, given)).toMatchObject({
      status: 'warning',
      examples: ['WEBHOOK_X is not a setting'],
    });
    for (const check of [noNameIsRefused, noNameLooksMisspelt]) {
      expect(await outcomeOf(check, { GATEWAY_PORT: '1' })).toMatchObject({ status: 'ok' });
    }
  });

  test('that are insecure and allowed are a warning', async () => {
    const allowed = { METRICS_HOST: '0.0.0.0', INSECURE_ALLOWED: 'metrics' };
    expect(await outcomeOf(noInsecureSettingIsAllowed, allowed)).toMatchObject({
      status: 'warning',
      count: 1,
    });
    expect(await outcomeOf(noInsecureSettingIsAllowed)).toMatchObject({ status: 'ok' });
  });
});

describe('files', () => {
  test('with encryption keys are read; a missing one, or one that others may read, is an error', async () => {
    const path = join(directory(), 'secrets.key');
    const [key] = makeSecretsKeys(path);
    expect(await outcomeOf(keyFileIsUsable, { SECRETS_KEY_FILE: path })).toMatchObject({
      status: 'ok',
      detail: `${path}: ${key?.id}.`,
    });
    chmodSync(path, 0o644);
    expect(await outcomeOf(keyFileIsUsable, { SECRETS_KEY_FILE: path })).toMatchObject({
      status: 'error',
      examples: [expect.stringContaining('is open to other users')],
    });
    expect(await outcomeOf(keyFileIsUsable)).toMatchObject({ status: 'error' });
  });

  test('that other users may read, or that are in the data directory, are a warning', async () => {
    const folder = directory();
    chmodSync(folder, 0o755);
    const key = file('key', 0o644);
    const settings = {
      ...{ DATA_DIR: folder, SECRETS_KEY_FILE: join(folder, 'secrets.key') },
      ...{ GRPC_TLS_CERT_FILE: key, GRPC_TLS_KEY_FILE: key },
    };
    expect(await outcomeOf(secretsArePrivate, settings)).toMatchObject({
      status: 'warning',
      examples: [
        `GRPC_TLS_KEY_FILE names ${key}, which is open to other users`,
        `${folder} (DATA_DIR) is open to other users`,
        expect.stringContaining('is in DATA_DIR'),
      ],
    });
    const closed = directory();
    chmodSync(closed, 0o700);
    expect(await outcomeOf(secretsArePrivate, { DATA_DIR: closed })).toMatchObject({ status: 'ok' });
  });

  test('with secrets that cannot be read are a warning, unless one holds the address of the database', async () => {
    const missing = join(directory(), 'token');
    const open = file('operator', 0o644);
    const settings = { EDGE_TOKEN_FILE: missing, TEMPORAL_API_KEY_FILE: open };
    expect(await outcomeOf(secretsArePrivate, settings)).toMatchObject({
      status: 'warning',
      examples: expect.arrayContaining([
        `EDGE_TOKEN_FILE names ${missing}, which does not exist`,
        `TEMPORAL_API_KEY_FILE names ${open}, which is open to other users`,
      ]),
    });
    await expect(outcomeOf(secretsArePrivate, { DATABASE_URL_FILE: missing })).rejects.toThrow(
      'DATABASE_URL_FILE names a file that does not exist',
    );
  });

  test('belong to the user of the command', async () => {
    expect(await outcomeOf(userOwnsTheData)).toMatchObject({ status: 'ok' });
    expect(await outcomeOf(userOwnsTheData, { DATA_DIR: '/not/there' })).toMatchObject({ status: 'skipped' });
  });
});

describe('certificates', () => {
  function tls(notAfter: number) {
    const { certificate, key } = selfSignedCertificate({ notBefore: Date.now() - 100 * DAY_MS, notAfter });
    return { GRPC_TLS_CERT_FILE: file(certificate), GRPC_TLS_KEY_FILE: file(key) };
  }

  test('are sound with their key, and a warning near their expiry', async () => {
    const fresh = tls(Date.now() + 300 * DAY_MS);
    expect(await outcomeOf(certificatesAreUsable, fresh)).toMatchObject({ status: 'ok' });
    expect(await outcomeOf(noCertificateExpiresSoon, fresh)).toMatchObject({ status: 'ok' });
    for (const [end, words] of [
      [Date.now() + 3 * DAY_MS, ' expires '],
      [Date.now() - DAY_MS, ' has expired '],
    ] as const) {
      expect(await outcomeOf(noCertificateExpiresSoon, tls(end))).toMatchObject({
        status: 'warning',
        examples: [expect.stringContaining(words)],
      });
    }
    for (const check of [certificatesAreUsable, noCertificateExpiresSoon]) {
      expect(await outcomeOf(check)).toMatchObject({
        status: 'skipped',
        reason: 'no certificate file is set',
      });
    }
  });

  test('with the key of another one, or files without a certificate, are an error', async () => {
    const end = Date.now() + 300 * DAY_MS;
    const mixed = {
      ...tls(end),
      GRPC_TLS_KEY_FILE: tls(end).GRPC_TLS_KEY_FILE,
      TEMPORAL_TLS_CA_FILE: file('x'),
    };
    expect(await outcomeOf(certificatesAreUsable, mixed)).toMatchObject({
      status: 'error',
      examples: [
        expect.stringContaining('does not hold the key'),
        expect.stringContaining('whole certificates'),
      ],
    });
  });
});

describe('ports', () => {
  async function portSettings() {
    const names = ['SIGN_ON_PORT', 'GATEWAY_PORT', 'GRPC_PORT', 'METRICS_PORT'];
    const ports = await freePorts(names.length);
    return Object.fromEntries(names.map((name, index) => [name, String(ports[index])]));
  }

  type Answers = Record<string, object | string>;

  /** A server that answers these paths, and with its request id the others. */
  async function served(answers: Answers, at: object = { host: '127.0.0.1', port: 0 }): Promise<number> {
    const server = createServer(({ url = '' }, response) => {
      const answer = answers[url];
      response.writeHead(200, answer === undefined ? { 'x-request-id': 'one' } : {});
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? {}));
    });
    await new Promise<void>((resolve) => server.listen(at, resolve));
    closings.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
    return (server.address() as AddressInfo).port;
  }

  const edge = () => served({});
  const other = () => served({ '/': 'hello', '/livez': 'hello' });
  const livez = (dataDir: string, ...ports: number[]) => ({
    '/livez': { status: 'alive', dataDir, ports: ports.map((port) => ({ host: '127.0.0.1', port })) },
  });

  /** A place with a role under `serve` that says that it listens on these ports. */
  async function placeServing(...ports: number[]): Promise<string> {
    const folder = directory();
    mkdirSync(join(folder, 'run'));
    await served(livez(folder, ...ports), { path: join(folder, 'run', 'edge.ops.sock') });
    return folder;
  }

  test('are free, or taken by another process', async () => {
    const free = await portSettings();
    expect(await outcomeOf(portsAreFree, free)).toMatchObject({ status: 'ok', detail: 'All are free.' });
    const [one, two] = [await other(), await other()];
    const taken = { ...free, SIGN_ON_PORT: String(one), GRPC_PORT: String(two) };
    expect(await outcomeOf(portsAreFree, taken)).toMatchObject({
      status: 'error',
      examples: [
        `127.0.0.1:${one} (SIGN_ON_PORT) is taken by another process`,
        `127.0.0.1:${two} (GRPC_PORT) is taken by another process`,
      ],
    });
  });

  test('are taken on all addresses if another process has them on one', async () => {
    const free = await portSettings();
    await served({}, { host: '127.0.0.2', port: Number(free.SIGN_ON_PORT) });
    const settings = { ...free, LISTEN_HOST: '0.0.0.0' };
    expect(await outcomeOf(portsAreFree, settings)).toMatchObject({
      status: 'error',
      examples: [`0.0.0.0:${free.SIGN_ON_PORT} (SIGN_ON_PORT) is taken by another process`],
    });
    expect(await outcomeOf(portsAreFree, free)).toMatchObject({ status: 'ok' });
  });

  test('are ours if a process in the data directory says that it has them', async () => {
    const [signOn, gateway, grpc] = [await edge(), await edge(), await other()];
    const DATA_DIR = await placeServing(signOn, gateway, grpc);
    const settings = { ...(await portSettings()), DATA_DIR, GRPC_PORT: String(grpc) };
    const ours = { ...settings, SIGN_ON_PORT: String(signOn), GATEWAY_PORT: String(gateway) };
    expect(await outcomeOf(portsAreFree, ours)).toMatchObject({
      status: 'ok',
      detail: 'The service listens on 3.',
    });
    // The listener of the settings would be on all addresses, that of the process is on one of them.
    expect(await outcomeOf(portsAreFree, { ...ours, LISTEN_HOST: '0.0.0.0' })).toMatchObject({
      status: 'ok',
    });
  });

  test('of another environment of this service are taken, whether this one runs or not', async () => {
    const [own, gateway, metrics] = [await edge(), await edge(), await served(livez('/srv/other'))];
    const free = await portSettings();
    const taken = { ...free, GATEWAY_PORT: String(gateway), METRICS_PORT: String(metrics) };
    const examples = [
      `127.0.0.1:${gateway} (GATEWAY_PORT) is taken by another environment of this service`,
      `127.0.0.1:${metrics} (METRICS_PORT) is taken by another environment of this service, with the data directory /srv/other`,
    ];
    expect(await outcomeOf(portsAreFree, taken)).toMatchObject({
      status: 'error',
      examples,
    });

    const running = { ...taken, DATA_DIR: await placeServing(own), SIGN_ON_PORT: String(own) };
    expect(await outcomeOf(portsAreFree, running)).toMatchObject({
      status: 'error',
      examples,
      detail: 'The service listens on 1.',
    });
    expect(await outcomeOf(serviceIsReady, running)).toMatchObject({
      status: 'skipped',
      reason: 'the service does not run here',
    });
  });

  test('that another role may have, run by itself, are not judged', async () => {
    const DATA_DIR = directory();
    const [signOn, grpc] = [await edge(), await other()];
    const [metrics = 0] = await freePorts(1);
    await served(livez(realpathSync(DATA_DIR), metrics), { host: '127.0.0.1', port: metrics });
    const settings = {
      ...{ ...(await portSettings()), DATA_DIR, METRICS_PORT: String(metrics) },
      ...{ SIGN_ON_PORT: String(signOn), GRPC_PORT: String(grpc) },
    };
    expect(await outcomeOf(portsAreFree, settings)).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('Not judged: SIGN_ON_PORT, GRPC_PORT;'),
    });
    const GATEWAY_PORT = String(await other());
    expect(await outcomeOf(portsAreFree, { ...settings, GATEWAY_PORT })).toMatchObject({
      status: 'error',
      examples: [`127.0.0.1:${GATEWAY_PORT} (GATEWAY_PORT) is taken by another process`],
    });
  });

  test('of an address that this machine does not have are an error', async () => {
    const elsewhere = { ...(await portSettings()), LISTEN_HOST: '192.0.2.1' };
    expect(await outcomeOf(portsAreFree, elsewhere)).toMatchObject({
      status: 'error',
      examples: [expect.stringContaining('is not an address of this machine'), expect.anything()],
    });
  });

  test.each([
    ['ready', '{"status":"ready"}', { status: 'ok' }],
    [
      'degraded because it has no Temporal',
      '{"status":"degraded","roles":{"edge":{"status":"ready"},"worker":{"status":"degraded","checks":{"temporal":{"ok":false,"detail":"away"}}}}}',
      { status: 'ok', detail: 'It is degraded.' },
    ],
    [
      'degraded by another role',
      '{"status":"degraded","roles":{"edge":{"status":"ready"},"worker":{"status":"unready","checks":{"domain":{"ok":false,"detail":"away"}}}}}',
      { status: 'warning', examples: ['worker: domain: away'] },
    ],
    [
      'unready without a reason',
      '{"status":"unready"}',
      { status: 'warning', examples: ['the service is unready'] },
    ],
  ])('tell a service that is %s', async (_, body, outcome) => {
    const DATA_DIR = directory();
    const METRICS_PORT = String(await served({ ...livez(realpathSync(DATA_DIR)), '/readyz': body }));
    expect(await outcomeOf(serviceIsReady, { DATA_DIR, METRICS_PORT })).toMatchObject(outcome);
  });

  test('without a service skip the check of readiness', async () => {
    expect(await outcomeOf(serviceIsReady, await portSettings())).toMatchObject({ status: 'skipped' });
  });
});

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

describe('the disk', () => {
  test('has its free space and the size of the log measured', async () => {
    expect(await outcomeOf(diskHasRoom)).toMatchObject({ detail: expect.stringMatching(/GiB are free\.$/) });
    const noDatabase = { status: 'skipped', reason: 'there is no database' };
    expect(await outcomeOf(writeAheadLogIsShort)).toMatchObject(noDatabase);
    const DATA_DIR = directory();
    copyFileSync(await migratedSqliteFile(), join(DATA_DIR, 'integration.db'));
    expect(await outcomeOf(writeAheadLogIsShort, { DATA_DIR })).toMatchObject({
      status: 'ok',
      detail: '0 MiB.',
    });
    expect(await outcomeOf(diskHasRoom, { DATA_DIR: '/not/there' })).toMatchObject({ status: 'skipped' });
  });

  test('accepts a write while the service runs, and the write leaves no file', async () => {
    const dataDir = directory();
    const store = await openStore({ dataDir, environment: 'live' });
    closings.push(() => store.close());
    const outcome = await outcomeOf(writesSucceed, { DATA_DIR: dataDir });
    expect(outcome).toMatchObject({ status: 'ok', detail: expect.stringMatching(/^It took \d+ ms\.$/) });
    await store.ping();
  });

  test('leaves the log as the service did, from which the next start sees whether it closed the file', async () => {
    const dataDir = directory();
    const store = await openStore({ dataDir, environment: 'live' });
    const killed = directory();
    for (const name of ['integration.db', 'integration.db-wal']) {
      copyFileSync(join(dataDir, name), join(killed, name));
    }
    await store.close();
    for (const [DATA_DIR, wasUnclosed] of [
      [dataDir, false],
      [killed, true],
    ] as const) {
      expect(isUnclosed(DATA_DIR)).toBe(wasUnclosed);
      expect(await outcomeOf(writesSucceed, { DATA_DIR })).toMatchObject({ status: 'ok' });
      expect(isUnclosed(DATA_DIR)).toBe(wasUnclosed);
    }
  });

  test('is not called writable where the database is a PostgreSQL that does not answer', async () => {
    const [port] = await freePorts(1);
    expect(
      await outcomeOf(writesSucceed, { DATABASE_URL: `postgres://integration@127.0.0.1:${port}/db` }),
    ).toMatchObject({ status: 'skipped', reason: 'the database cannot be read' });
  });

  test('that refuses a write is an error', async () => {
    const folder = join(directory(), 'data');
    mkdirSync(folder);
    // A name that is too long fails for every user.
    const long = { DATA_DIR: join(folder, 'x'.repeat(250)) };
    mkdirSync(long.DATA_DIR);
    const database = join(long.DATA_DIR, 'integration.db');
    writeFileSync(database, 'no database');
    expect(await outcomeOf(writesSucceed, { DATA_DIR: database })).toMatchObject({
      status: 'error',
      examples: [expect.stringContaining('cannot be written')],
    });
  });
});

test.each(temporalChecks)('the check $name is skipped without the address of Temporal', async (check) => {
  expect(await outcomeOf(check)).toMatchObject({ status: 'skipped', reason: 'TEMPORAL_ADDRESS is not set' });
});

test('a Temporal server that does not answer is one warning', async () => {
  const [port] = await freePorts(1);
  const settings = { DATA_DIR: directory(), TEMPORAL_ADDRESS: `127.0.0.1:${port}` };
  const outcomes = await examined(settings, temporalChecks, true);
  expect(outcomes.map(({ status }) => status)).toEqual(['warning', ...Array(4).fill('skipped')]);
});
