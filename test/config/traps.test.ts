import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/config.js';
import { misspeltIn } from '../../src/config/misspelt.js';
import { secretOf } from '../../src/config/secret-files.js';
import { secretSettings, settings } from '../../src/config/settings.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { problemsOf } from './problems.js';

const directory = temporaryDirectories();
const STRICT = { strict: true };
const TOKEN = 'canary-7Gq2-that-is-as-long-as-a-token';

function file(content: string, mode = 0o600): string {
  const path = join(directory(), 'file');
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

describe('a start with a variable that looks like a setting', () => {
  const meantBy = (name: string, environment: Record<string, string> = {}) =>
    misspeltIn({ [name]: TOKEN, ...environment }, [])[0];

  test.each([
    ['GATEWAY_PORTT', 'GATEWAY_PORT'],
    ['GATEWAY_PROT', 'GATEWAY_PORT'],
    ['gateway_port', 'GATEWAY_PORT'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['EVENTS_RETENTION', 'EVENT_RETENTION'],
    ['IDEMPOTENCI_RETENTON', 'IDEMPOTENCY_RETENTION'],
    ['EDGE_TOKEN_FIL', 'EDGE_TOKEN_FILE'],
  ])('is refused for %s, and the sentence names %s, unless that is set', (name, nearest) => {
    expect(problemsOf({ [name]: TOKEN }, STRICT)).toEqual([
      `${name} is not a setting; did you mean ${nearest}? Rename or remove it, or name it in FOREIGN_VARIABLES if another program reads it`,
    ]);
    expect(problemsOf({ [name]: TOKEN, FOREIGN_VARIABLES: `OTHER, ${name}` }, STRICT)).toEqual([]);
    expect(problemsOf({ [name]: TOKEN })).toEqual([]);
    expect(meantBy(name, { [nearest]: 'x' })).toMatchObject({ nearest, isCertain: false });
  });

  test('is refused for the name of a removed setting, unless another program reads it', () => {
    expect(problemsOf({ SERVICE_TOKEN: TOKEN })).toEqual([
      expect.stringMatching(
        /^SERVICE_TOKEN is replaced by .* \(or name it in FOREIGN_VARIABLES if another program reads it\)$/,
      ),
    ]);
    expect(problemsOf({ SERVICE_TOKEN: TOKEN, FOREIGN_VARIABLES: 'SERVICE_TOKEN' }, STRICT)).toEqual([]);
  });

  test.each([
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['LOG-LEVEL', 'LOG_LEVEL'],
    ['DATADIR', 'DATA_DIR'],
    ['ENVIRONMENT_FILE', 'ENVIRONMENT'],
    ['GATEWAY_HOST', 'GATEWAY_PORT'],
    ['TEMPORAL_UI_HOST', 'TEMPORAL_UI_PORT'],
    ['INTEGRATION_GATEWAY_PORT', 'GATEWAY_PORT'],
    ['INTEGRATION_TOKN', 'INTEGRATION_TOKEN'],
    ['INTEGRATION_GATEWAI', 'INTEGRATION_GATEWAY'],
    ['SIGN_ON_URL_FILE', 'SIGN_ON_URL'],
    ['WEBHOOK_SECRET', undefined],
    ['WEBHOOK_URL', undefined],
    ['INTEGRATION_ENV', undefined],
    ['INTEGRATION_IMAGE', undefined],
  ])('is warned of %s, which may be of another program', (name, nearest) => {
    expect(problemsOf({ [name]: TOKEN }, STRICT)).toEqual([]);
    expect(meantBy(name)).toMatchObject({ name, isCertain: false });
    expect(meantBy(name)?.nearest).toBe(nearest);
  });

  test.each([
    'PATH',
    'HOME',
    'LANG',
    'NODE_ENV',
    'NODE_OPTIONS',
    'LISTEN_FDS',
    'LISTEN_PID',
    'LOGNAME',
    'GRPC_TRACE',
    'GRPC_VERBOSITY',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'PGHOST',
    'SESSION_MANAGER',
    'TEMPORAL_CLI_ADDRESS',
    'TEMPORAL_TLS_CA',
    'XDG_DATA_DIRS',
    'MOCK_GATEWAY_PORT',
    'INTEGRATION_SERVICE_HOST',
    'INTEGRATION_SERVICE_PORT_HTTP',
    'INTEGRATION_PORT_4001_TCP_ADDR',
    ...Object.keys(settings).filter((name) => !name.endsWith('_FILE')),
  ])('is silent about %s', (name) => {
    expect(misspeltIn({ [name]: '' }, [])).toEqual([]);
  });

  test('is not refused for the address of a service of the cluster', () => {
    expect(meantBy('INTEGRATION_PORT', { INTEGRATION_PORT: 'tcp://10.0.0.1:4001' })).toBeUndefined();
  });
});

test('a role reads only the files of its own secrets, and no certificates', () => {
  const foreign = { DATABASE_URL_FILE: '/none', TEMPORAL_API_KEY_FILE: '/none', GRPC_TLS_KEY_FILE: '/none' };
  const own = { EDGE_TOKEN_FILE: file(TOKEN), GRPC_TLS_CERT_FILE: '/none' };
  const config = loadConfig({ ...foreign, ...own }, { strict: true, secrets: ['EDGE_TOKEN'] });
  expect(config.EDGE_TOKEN?.map((token) => token.reveal())).toEqual([TOKEN]);
  expect(config.DATABASE_URL).toBeUndefined();
});

test.each([
  ['DATABASE_DIRECT_URL', 'another address of'],
  ['DATABASE_REPLICA_URL', 'a replica of'],
])('%s needs DATABASE_URL at a start of the service, but not for other commands', (name, what) => {
  const alone = { [name]: 'postgres://u@localhost/x' };
  expect(problemsOf(alone, STRICT)).toEqual([
    `${name} is ${what} the PostgreSQL in DATABASE_URL, which must be set`,
  ]);
  expect(problemsOf({ ...alone, DATABASE_URL_FILE: '/none' }, { ...STRICT, secrets: [] })).toEqual([]);
  expect(problemsOf(alone, { secrets: [] })).toEqual([]);
});

test('a role that may not read the key for Temporal knows that there is one', () => {
  const remote = {
    ENVIRONMENT: 'live',
    SIGN_ON_URL: 'https://sign-on.example.com',
    GATEWAY_URL: 'https://gateway.example.com',
    TEMPORAL_ADDRESS: 'temporal.example.com:7233',
  };
  const keyed = { ...remote, TEMPORAL_API_KEY_FILE: '/none' };
  expect(() => loadConfig(keyed, { strict: true, secrets: ['EDGE_TOKEN'] })).not.toThrow();
  expect(() => loadConfig(remote, { strict: true, secrets: ['EDGE_TOKEN'] })).toThrow('TEMPORAL_TLS');
});

test('live refuses an environment in which Node checks no certificate, such as that of PostgreSQL', () => {
  const secured = { SIGN_ON_URL: 'https://sign-on.example.com', GATEWAY_URL: 'https://gateway.example.com' };
  const checking = (value: string, ENVIRONMENT = 'live') =>
    problemsOf({ ...secured, ENVIRONMENT, NODE_TLS_REJECT_UNAUTHORIZED: value });
  expect(checking('0')).toEqual([
    expect.stringMatching(/^NODE_TLS_REJECT_UNAUTHORIZED must not be 0 in live/),
  ]);
  expect([...checking('1'), ...checking(''), ...checking('0', 'demo')]).toEqual([]);
});

test.each(['two\nlines', 'two words', 'ümlaut'])('a token with %j cannot be used', (end) => {
  expect(problemsOf({ EDGE_TOKEN: `${TOKEN}${end}` }, STRICT)).toEqual([
    'EDGE_TOKEN must be one line of ASCII without blanks',
  ]);
});

describe.each(secretSettings)('%s', (name) => {
  const value = name.endsWith('_URL') ? `postgres://u:${TOKEN}@localhost/x` : TOKEN;
  const beside: Record<string, string> =
    name.startsWith('DATABASE_') && name !== 'DATABASE_URL'
      ? { DATABASE_URL: 'postgres://u@localhost/x' }
      : {};
  const revealed = (environment: Record<string, string>) =>
    [loadConfig({ ...environment })[name]].flat().map((secret) => secret?.reveal());

  test('may come from a file, whose last line break is dropped', () => {
    for (const end of ['', '\n', '\r\n']) {
      expect(revealed({ [`${name}_FILE`]: file(`${value}${end}`) })).toEqual([value]);
    }
    expect(revealed({ [`${name}_FILE`]: file(value, 0o640) })).toEqual([value]);
  });

  test.each<[string, () => string, string]>([
    ['is missing', () => join(directory(), 'none'), 'does not exist'],
    ['is a folder', () => join(directory(), '.'), 'is not a file'],
    ['is empty', () => file('\n'), 'is empty'],
    ['others may read', () => file(value, 0o604), 'other users may read: chmod 600'],
    ['the group may write', () => file(value, 0o620), 'other users may read: chmod 600'],
    ['is much too long', () => file('x'.repeat(70_000)), 'is too long'],
  ])('is refused from a file that %s', (_, path, reason) => {
    expect(problemsOf({ [`${name}_FILE`]: path() })).toEqual([`${name}_FILE names a file that ${reason}`]);
  });

  test('is refused in the environment and from a file at once, unless both are the same', () => {
    expect(
      problemsOf({ ...beside, [name]: `${value}.other`, [`${name}_FILE`]: file(value) }, STRICT),
    ).toEqual([`${name} and ${name}_FILE differ: only one of them may be set`]);
    expect(problemsOf({ ...beside, [name]: value, [`${name}_FILE`]: file(value) }, STRICT)).toEqual([]);
  });

  test('is not read for a command that needs no secrets', () => {
    const environment = { [`${name}_FILE`]: join(directory(), 'none'), GATEWAY_PORT: '4100' };
    const config = loadConfig(environment, { secrets: [] });
    expect([config[name], config.GATEWAY_PORT]).toEqual([undefined, 4100]);
  });
});

test('every setting with a secret may come from a file, and no other one', () => {
  expect([...secretSettings].sort()).toEqual([
    'DATABASE_DIRECT_URL',
    'DATABASE_REPLICA_URL',
    'DATABASE_URL',
    'EDGE_TOKEN',
    'MAINTENANCE_TOKEN',
    'RELAY_TOKEN',
    'TEMPORAL_API_KEY',
  ]);
});

test('a file of two lines is one secret with a line break', () => {
  mkdirSync(directory(), { recursive: true });
  expect(secretOf(file('one\ntwo\n'))).toBe('one\ntwo');
});
