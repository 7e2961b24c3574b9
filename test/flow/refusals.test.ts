import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { makeSecretsKeys } from '../../src/keys/secrets-key.js';
import { Sqlite } from '../../src/store/better-sqlite3.js';
import { databaseUnderTest } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { listenOnLoopback } from '../support/loopback.js';
import { roleTokens } from '../support/role-tokens.js';
import { selfSignedCertificate } from '../support/self-signed-certificate.js';
import {
  isRunning,
  mainFile,
  processesWith,
  type StartOptions,
  serviceProcesses,
} from '../support/service-process.js';

const services = serviceProcesses();
const postgres = databaseUnderTest('PostgreSQL');

const CANNOT_START = 78;
/** systemd starts the unit again, but not after 78. */
const FAILED = 1;

/** Starts what cannot start, and gives the sentence it ended with. */
async function refusalOf(options: StartOptions, code = CANNOT_START): Promise<string> {
  const service = await services.launch(options);
  expect(await service.exited).toEqual({ code, signal: null });
  expect(service.errors.text()).not.toMatch(/^\s+at |Error:/m);
  expect(service.output.lines().filter(({ level }) => level === 'error')).toEqual([]);
  return service.errors.text();
}

describe('a port that is taken', () => {
  let holder: Server;
  afterEach(() => {
    holder.close();
  });

  async function takenPort(): Promise<string> {
    holder = createServer();
    return String(await listenOnLoopback(holder));
  }

  test.each([
    ['edge', 'SIGN_ON_PORT', 'The port'],
    ['edge', 'GATEWAY_PORT', 'The port'],
    ['edge', 'DEMO_APP_PORT', 'The port'],
    ['domain', 'GRPC_PORT', 'The gRPC port'],
    ['serve', 'METRICS_PORT', 'The port'],
    ['serve', 'GATEWAY_PORT', 'The port'],
  ] as const)('%s names it and the setting: %s', async (command, setting, what) => {
    const port = await takenPort();
    const env = { ...roleTokens, [setting]: port };
    expect(await refusalOf({ command, env })).toBe(
      `${what} 127.0.0.1:${port} is taken by another process. Set ${setting} to another one, or stop what uses it.`,
    );
  });
});

test('why a start is refused is said before the roles end, and so is which one has to be killed', async () => {
  const holder = createServer();
  const GATEWAY_PORT = String(await listenOnLoopback(holder));
  const service = await services.launch({ env: { GATEWAY_PORT, SHUTDOWN_GRACE: '0s' } });
  const socket = join(service.dataDir, 'run/domain.ops.sock');
  const frozen = await eventually('the domain', () => processesWith(socket)[0]);
  process.kill(frozen, 'SIGSTOP');
  await service.errors.nextText('is taken by another process. Set GATEWAY_PORT');
  expect(isRunning(frozen)).toBe(true);
  const line = await service.output.nextLine(({ msg }) => msg === 'domain did not end in time, killing it');
  expect(line).toMatchObject({ level: 'error', role: 'serve', childPid: frozen });
  expect(await service.exited).toEqual({ code: CANNOT_START, signal: null });
  holder.close();
});

test.each(['METRICS_PORT', 'GRPC_PORT', 'ROLES_ADDRESS'])(
  'a domain whose %s is taken refuses before it makes or migrates a database',
  async (setting) => {
    const holder = createServer();
    const port = await listenOnLoopback(holder);
    const dataDir = join(services.newDirectory(), 'data');
    const value = setting === 'ROLES_ADDRESS' ? `127.0.0.1:${port}` : String(port);
    const refusal = await refusalOf({ command: 'domain', dataDir, env: { ...roleTokens, [setting]: value } });
    holder.close();
    expect(refusal).toContain(`127.0.0.1:${port} is taken by another process. Set ${setting} to another one`);
    expect(existsSync(join(dataDir, 'integration.db'))).toBe(false);
  },
);

describe('an address that this machine does not have, or not yet', () => {
  const tls = () => {
    const { certificate, key } = selfSignedCertificate();
    const directory = services.newDirectory();
    writeFileSync(join(directory, 'server.crt'), certificate);
    writeFileSync(join(directory, 'server.key'), key, { mode: 0o600 });
    return {
      GRPC_TLS_CERT_FILE: join(directory, 'server.crt'),
      GRPC_TLS_KEY_FILE: join(directory, 'server.key'),
    };
  };

  test.each([
    ['edge', 'LISTEN_HOST', 'SIGN_ON_PORT', 'The port'],
    ['domain', 'GRPC_HOST', 'GRPC_PORT', 'The gRPC port'],
    ['serve', 'METRICS_HOST', 'METRICS_PORT', 'The port'],
    ['serve', 'LISTEN_HOST', 'SIGN_ON_PORT', 'The port'],
  ] as const)('%s names it and the setting: %s', async (command, setting, portSetting, what) => {
    const env = { ...roleTokens, ...tls(), [setting]: '192.0.2.1', [portSetting]: '4000' };
    expect(await refusalOf({ command, env }, FAILED)).toBe(
      `${what} 192.0.2.1:4000 cannot be used: this machine does not have that address. Set ${setting} to one that it has.`,
    );
  });
});

describe('a data directory', () => {
  test.each(['serve', 'domain'] as const)('%s cannot write to is named', async (command) => {
    const file = join(services.newDirectory(), 'file');
    writeFileSync(file, '');
    const refusal = await refusalOf({ command, dataDir: join(file, 'data') });
    expect(refusal).toContain(`The directory ${file}/data/run cannot be written: `);
  });

  test('with a path too long for sockets is reported before anything is written', async () => {
    const dataDir = join(services.newDirectory(), 'd'.repeat(100));
    expect(await refusalOf({ dataDir })).toMatch(
      / is too long for a socket\. Set DATA_DIR to a shorter one\.$/,
    );
  });

  test('in which a serve runs already keeps its files, sockets and health', async () => {
    const first = await services.start();
    const credentials = first.demo();
    expect(await refusalOf({ dataDir: first.dataDir })).toBe(
      `Another \`integration serve\` already runs on ${first.dataDir}. Stop it, or set DATA_DIR to another directory.`,
    );
    const domain = { command: 'domain', dataDir: first.dataDir } as const;
    expect(await refusalOf(domain)).toContain('Another domain already runs on ');
    const elsewhere = {
      ...domain,
      env: { DOMAIN_ADDRESS: '127.0.0.1:4002', ROLES_ADDRESS: '127.0.0.1:4005' },
    };
    expect(await refusalOf(elsewhere)).toBe(
      `Another domain already runs on ${first.dataDir}. Stop it, or set DATA_DIR to another directory.`,
    );
    expect(first.demo()).toEqual(credentials);
    await first.readiness();

    first.signalGroup('SIGKILL');
    await first.exited;
    const next = await services.start({ dataDir: first.dataDir });
    await next.readiness();
  });
});

describe('a database', () => {
  test('of the demo environment is not opened by live, nor one of a newer version by this', async () => {
    const demo = await services.start({ command: 'domain' });
    await demo.stop();
    const { dataDir } = demo;
    expect(await refusalOf({ command: 'domain', dataDir, env: { ENVIRONMENT: 'live' } })).toBe(
      'The database belongs to the demo environment, and ENVIRONMENT is live.',
    );
    const database = new Sqlite(join(dataDir, 'integration.db'));
    database.prepare('insert into kysely_migration values (?, ?)').run('9999-of-tomorrow', '2099-01-01');
    database.prepare('insert into required_migrations values (?)').run('9999-of-tomorrow');
    database.close();
    expect(await refusalOf({ dataDir })).toContain(
      'The database was migrated by a newer version of the service (it has 9999-of-tomorrow).',
    );
  });

  test('that is no database is named', async () => {
    const dataDir = services.newDirectory();
    writeFileSync(
      join(dataDir, 'integration.db'),
      'This is no database, and it is long enough to be seen as none. '.repeat(20),
    );
    expect(await refusalOf({ command: 'domain', dataDir })).toContain(
      `The database ${dataDir}/integration.db cannot be opened: `,
    );
  });
});

describe('settings', () => {
  test('that are wrong are all named at once', async () => {
    const env = { GATEWAY_PORT: 'http', LOG_LEVEL: 'loud', GRPC_HOST: '0.0.0.0', PURGE_INTERVAL: 'often' };
    const refusal = await refusalOf({ env });
    for (const name of Object.keys(env)) {
      expect(refusal).toContain(`  - ${name} `);
    }
  });

  test.each([
    ['edge', {}, 'EDGE_TOKEN must be set to run the edge by itself'],
    ['worker', { EDGE_TOKEN: roleTokens.EDGE_TOKEN }, 'RELAY_TOKEN must be set to run the worker by itself'],
    ['worker', { RELAY_TOKEN: roleTokens.RELAY_TOKEN }, 'MAINTENANCE_TOKEN must be set to run the worker'],
    ['edge', { EDGE_TOKEN: `sha256:${'x'.repeat(43)}` }, 'EDGE_TOKEN must be the token itself for the edge'],
    [
      'serve',
      { DOMAIN_ADDRESS: 'localhost:4005,localhost:4006', ROLES_ADDRESS: 'localhost:4005' },
      'EDGE_TOKEN must be set, the same on all machines',
    ],
    [
      'serve',
      { SERVICE_TOKEN: 'x'.repeat(40) },
      'SERVICE_TOKEN is replaced by one token per right: set EDGE_TOKEN',
    ],
  ] as const)(
    'of %s without the token of each right it needs are refused',
    async (command, env, sentence) => {
      expect(await refusalOf({ command, env })).toContain(sentence);
    },
  );

  test('of a role by itself are refused on stderr also where the program that starts it listens to it', async () => {
    const stdio: StdioOptions = ['ignore', 'ignore', 'pipe', 'ipc'];
    const child = spawn(process.execPath, [mainFile, 'edge'], { stdio, env: { ENVIRONMENT: 'demo' } });
    const [said, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')]);
    expect([code, said]).toEqual([CANNOT_START, expect.stringContaining('- EDGE_TOKEN must be set to run ')]);
  });

  test.each([
    [
      'by which neither edge nor worker could reach it',
      { DOMAIN_ADDRESS: 'localhost:4002' },
      'set ROLES_ADDRESS to the host:port',
    ],
    ['without the key file of live', { ENVIRONMENT: 'live' }, 'There is no key file at '],
    [
      'with a file that is no key file',
      { SECRETS_KEY_FILE: import.meta.filename },
      'holds neither a key of 32 bytes nor',
    ],
  ])('of a domain %s are refused before it makes or migrates a database', async (_, env, sentence) => {
    const dataDir = join(services.newDirectory(), 'data');
    expect(await refusalOf({ command: 'domain', dataDir, env })).toContain(sentence);
    expect(existsSync(join(dataDir, 'integration.db'))).toBe(false);
  });

  test('of live without its key file are refused before the supervisor makes or starts anything', async () => {
    const dataDir = join(services.newDirectory(), 'data');
    expect(await refusalOf({ command: 'serve', dataDir, env: { ENVIRONMENT: 'live' } })).toMatch(
      /^There is no key file at .*$/,
    );
    expect(existsSync(dataDir)).toBe(false);
  });

  test.each(['serve', 'domain'] as const)(
    'of live with a key file and without a database are refused before %s makes anything',
    async (command) => {
      const folder = services.newDirectory();
      const dataDir = join(folder, 'data');
      makeSecretsKeys(`${dataDir}.keys/secrets.key`);
      expect(await refusalOf({ command, dataDir, env: { ENVIRONMENT: 'live' } })).toMatch(
        /^There is no database in .*\. In live, `integration restore` brings one back from a backup, .*$/,
      );
      expect(readdirSync(folder)).toEqual(['data.keys']);
    },
  );

  test.each(['serve', 'domain'] as const)(
    'of live that lead %s to an empty PostgreSQL database are refused, and it stays empty',
    async (command) => {
      const { dataDir, databaseUrl = '' } = await postgres.newEmptyPlace();
      const SECRETS_KEY_FILE = `${dataDir}.keys/secrets.key`;
      makeSecretsKeys(SECRETS_KEY_FILE);
      const env = { ENVIRONMENT: 'live', DATABASE_URL: databaseUrl, SECRETS_KEY_FILE };
      expect(await refusalOf({ command, dataDir, env })).toMatch(
        /^The database belongs to no environment: it is empty, or of another program\. .* `integration init` makes a new environment\.$/,
      );
      const { reader } = await postgres.open({ dataDir, databaseUrl });
      expect(await reader.introspection.getTables({ withInternalKyselyTables: true })).toEqual([]);
    },
  );

  test.each([
    ['domain', { GRPC_TLS_CERT_FILE: '/not/there', GRPC_TLS_KEY_FILE: '/not/there' }, 'GRPC_TLS_CERT_FILE'],
    ['edge', { GRPC_TLS_CA_FILE: '/not/there', DOMAIN_ADDRESS: 'localhost:4002' }, 'GRPC_TLS_CA_FILE'],
    ['worker', { TEMPORAL_TLS_CA_FILE: '/not/there' }, 'TEMPORAL_TLS_CA_FILE'],
  ] as const)('of %s that name a file that does not exist are named', async (command, env, name) => {
    const refusal = await refusalOf({
      command,
      env: { ...env, ...roleTokens },
    });
    expect(refusal).toContain(name);
    expect(refusal).toContain('/not/there');
  });
});
