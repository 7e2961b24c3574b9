import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeConfig, loadConfig } from '../../src/config/config.js';
import { INSECURITY_NAMES, settings } from '../../src/config/settings.js';

test('with nothing set it is a live environment on loopback, with the documented ports and times', () => {
  expect(loadConfig({})).toEqual({
    ENVIRONMENT: 'live',
    DATA_DIR: resolve('.data/live'),
    SESSION_IDLE_LIMIT: 12 * 3_600_000,
    SESSION_LIFETIME: 14 * 24 * 3_600_000,
    SIGNING_KEY_LIFETIME: 90 * 24 * 3_600_000,
    SIGNING_KEY_LEAD: 24 * 3_600_000,
    AUDIT_RETENTION: 365 * 24 * 3_600_000,
    IDEMPOTENCY_RETENTION: 7 * 24 * 3_600_000,
    TEMPORAL_TLS: 'off',
    SECRETS_KEY_FILE: resolve('.data/live.keys/secrets.key'),
    LISTEN_HOST: '127.0.0.1',
    SIGN_ON_PORT: 4000,
    GATEWAY_PORT: 4001,
    GRPC_HOST: '127.0.0.1',
    GRPC_PORT: 4002,
    METRICS_HOST: '127.0.0.1',
    METRICS_PORT: 4003,
    DEMO_APP_PORT: 4004,
    SIGN_ON_URL: 'http://localhost:4000',
    GATEWAY_URL: 'http://localhost:4001',
    TRUSTED_PROXIES: [],
    INSECURE_ALLOWED: [],
    FOREIGN_VARIABLES: [],
    DOMAIN_ADDRESS: `unix:${resolve('.data/live/run/domain.sock')}`,
    TEMPORAL_NAMESPACE: 'live',
    TEMPORAL_UI_PORT: 8233,
    GATEWAY_RATE_LIMIT: { limit: 600, windowMs: 60_000 },
    WEBHOOK_RETRY_DELAYS: [30_000, 300_000],
    WEBHOOK_TIMEOUT: 15_000,
    WEBHOOK_SENDS: 512,
    WEBHOOK_SENDS_PER_SUBSCRIPTION: 32,
    WEBHOOK_FAILING_LIMIT: 5 * 86_400_000,
    WEBHOOK_ALLOWED_NETWORKS: [],
    WEBHOOK_ALLOWED_PORTS: [80, 443, 8_080, 8_443],
    EVENT_RETENTION: 30 * 86_400_000,
    API_KEY_RETENTION: 90 * 86_400_000,
    PURGE_INTERVAL: 3_600_000,
    DRAIN_DELAY: 5_000,
    ROLE_SILENCE_LIMIT: 30_000,
    SHUTDOWN_GRACE: 10_000,
    LOG_LEVEL: 'info',
    LOG_FORMAT: 'json',
  });
});

describe('a default follows the setting that it is made from', () => {
  test('the data directory follows the environment, and what lies in it follows the directory', () => {
    const config = loadConfig({ ENVIRONMENT: 'demo' });
    expect(config.DATA_DIR).toBe(resolve('.data/demo'));
    expect(config.SECRETS_KEY_FILE).toBe(resolve('.data/demo.keys/secrets.key'));
  });

  test('only live waits for balancers when it is asked to end', () => {
    expect(loadConfig({ ENVIRONMENT: 'demo' }).DRAIN_DELAY).toBe(0);
    expect(loadConfig({ ENVIRONMENT: 'demo', DRAIN_DELAY: '7s' }).DRAIN_DELAY).toBe(7_000);
    expect(loadConfig({ DRAIN_DELAY: '0' }).DRAIN_DELAY).toBe(0);
  });

  test.each([
    ['/srv/data', '/srv/data'],
    ['relative/../dir/', resolve('dir')],
    ['.', resolve('.')],
  ])('DATA_DIR %s is resolved to %s', (given, resolved) => {
    const config = loadConfig({ DATA_DIR: given });
    expect(config.DATA_DIR).toBe(resolved);
    expect(config.DOMAIN_ADDRESS).toBe(`unix:${resolved}/run/domain.sock`);
  });

  test.each([
    ['4100', 'http://localhost:4100'],
    ['80', 'http://localhost'],
    ['0', 'http://localhost:0'],
  ])('the public address follows the port %s', (port, url) => {
    expect(loadConfig({ GATEWAY_PORT: port }).GATEWAY_URL).toBe(url);
  });

  test('what is set stays unchanged', () => {
    const config = loadConfig({ DATA_DIR: '/a', SECRETS_KEY_FILE: '/b/{DATA_DIR}', GATEWAY_PORT: '1' });
    expect(config.SECRETS_KEY_FILE).toBe('/b/{DATA_DIR}');
  });
});

test('an empty setting is an unset one', () => {
  expect(loadConfig({ GATEWAY_PORT: '', DATABASE_URL: '', EDGE_TOKEN: '', SERVICE_TOKEN: '' })).toEqual(
    loadConfig({}),
  );
});

test('what is not a setting is ignored unless the service starts with it', () => {
  expect(loadConfig({ PATH: '/bin', GATEWAY_PORTT: 'x', constructor: 'x' })).toEqual(loadConfig({}));
});

test('the configuration cannot be changed, down to its lists', () => {
  const config = loadConfig({ TRUSTED_PROXIES: '10.0.0.0/8' }) as Record<string, unknown>;
  const objects = [config, ...Object.values(config), (config.TRUSTED_PROXIES as unknown[])[0]];
  expect(objects.every((value) => Object.isFrozen(value))).toBe(true);
  expect(() => {
    config.GATEWAY_PORT = 1;
  }).toThrow(TypeError);
});

test('describeConfig names every setting, with its text, whether it was set, and what it is about', () => {
  const environment = { GATEWAY_PORT: '4100', TRUSTED_PROXIES: '' };
  const rows = describeConfig(loadConfig(environment), environment);
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(settings));
  expect(rows.filter(({ isDefault }) => !isDefault)).toEqual([
    { name: 'GATEWAY_PORT', value: '4100', isDefault: false, about: settings.GATEWAY_PORT.about },
  ]);
  expect(rows.find(({ name }) => name === 'TEMPORAL_ADDRESS')?.value).toBe('');
  expect(rows.every(({ about }) => about.length > 10)).toBe(true);
});

describe('what describeConfig prints is accepted again, and means the same', () => {
  const given: Record<string, string> = {
    ENVIRONMENT: 'demo',
    DATA_DIR: 'relative/../dir',
    LISTEN_HOST: '0.0.0.0',
    METRICS_HOST: '[::1]',
    SIGN_ON_PORT: '04100',
    GATEWAY_PORT: '0',
    SIGN_ON_URL: 'HTTPS://ID.Example.COM:443/',
    DEMO_GATEWAY_URL: 'https://demo.example.com/',
    TRUSTED_PROXIES: ' ::1 ,10.0.0.0/8,,',
    INSECURE_ALLOWED: INSECURITY_NAMES.join(' , '),
    DOMAIN_ADDRESS: 'unix:/run/domain.sock',
    ROLES_ADDRESS: '[::1]:4005',
    TEMPORAL_TLS: 'on',
    SESSION_IDLE_LIMIT: '90m',
    GATEWAY_RATE_LIMIT: '7/2500ms',
    WEBHOOK_RETRY_DELAYS: ' 1s , 2m',
    WEBHOOK_SENDS: '0064',
    WEBHOOK_ALLOWED_NETWORKS: 'fd00::/8,192.168.1.1',
    WEBHOOK_ALLOWED_PORTS: '443, 8443',
    EVENT_RETENTION: '6m',
    SHUTDOWN_GRACE: '250ms',
    LOG_FORMAT: 'pretty',
  };

  const printed = (environment: Record<string, string>) =>
    Object.fromEntries(
      describeConfig(loadConfig(environment), environment).map(({ name, value }) => [name, value]),
    );

  test('with nothing set', () => {
    expect(loadConfig(printed({}))).toEqual(loadConfig({}));
    expect(printed({})).toMatchObject({
      SESSION_IDLE_LIMIT: '12h',
      GATEWAY_RATE_LIMIT: '600/1m',
      WEBHOOK_RETRY_DELAYS: '30s,5m',
      WEBHOOK_ALLOWED_PORTS: '80,443,8080,8443',
      TRUSTED_PROXIES: '',
    });
  });

  test('with all of these set', () => {
    expect(loadConfig(printed(given))).toEqual(loadConfig(given));
    expect(printed(printed(given))).toEqual(printed(given));
  });

  test.each(Object.entries(given))('with %s set to %j', (name, value) => {
    const environment = { [name]: value };
    expect(loadConfig(printed(environment))).toEqual(loadConfig(environment));
  });

  test('secrets apart, which are masked one by one', () => {
    const [older, newer] = ['o'.repeat(40), 'n'.repeat(40)];
    const DATABASE_URL = 'postgres://someone:password@db:5432/integration?sslmode=verify-full';
    expect(printed({ EDGE_TOKEN: `${newer},${older}`, DATABASE_URL })).toMatchObject({
      EDGE_TOKEN: '[secret],[secret]',
      DATABASE_URL: '[secret]',
    });
  });
});
