import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/config.js';
import { insecuritiesOf } from '../../src/config/insecurities.js';
import { problemsOf } from './problems.js';

const REMOTE = 'postgres://u:canary@db.example.com/x';

const refused: [name: string, setting: Record<string, string>][] = [
  ['sign_on_url', { SIGN_ON_URL: 'http://id.example.com' }],
  ['gateway_url', { GATEWAY_URL: 'http://gateway.example.com' }],
  ['gateway_url', { GATEWAY_URL: 'http://10.0.0.7:4001' }],
  ['postgres', { DATABASE_URL: REMOTE }],
  ['postgres', { DATABASE_URL: `${REMOTE}?sslmode=disable` }],
  ['postgres', { DATABASE_URL: `${REMOTE}?sslmode=require` }],
  ['postgres', { DATABASE_URL: `${REMOTE}?sslmode=no-verify` }],
  ['postgres', { DATABASE_URL: `${REMOTE}?sslmode=verify-ca` }],
  ['postgres', { DATABASE_URL: `${REMOTE}?sslmode=verify-full&sslmode=disable` }],
  ['postgres', { DATABASE_URL: `${REMOTE}?sslmode=verify-full&ssl=0` }],
  ['postgres', { DATABASE_URL: 'postgres://u:canary@localhost/x?host=db.example.com' }],
  ['postgres', { DATABASE_URL: `${REMOTE}?host=` }],
  ['postgres', { DATABASE_URL: 'postgres:///x' }],
  ['postgres', { DATABASE_DIRECT_URL: REMOTE }],
  ['postgres', { DATABASE_URL: 'postgres://u@localhost/x', DATABASE_REPLICA_URL: REMOTE }],
  ['temporal', { TEMPORAL_ADDRESS: 'temporal.example.com:7233' }],
  ['trusted_proxies', { TRUSTED_PROXIES: '0.0.0.0/0' }],
  ['trusted_proxies', { TRUSTED_PROXIES: '10.0.0.1,::/0' }],
  ['trusted_proxies', { TRUSTED_PROXIES: '0.0.0.0/1,128.0.0.0/1' }],
  ['trusted_proxies', { TRUSTED_PROXIES: '2000::/3' }],
  ['trusted_proxies', { TRUSTED_PROXIES: '::ffff:0:0/96' }],
  ['trusted_proxies', { TRUSTED_PROXIES: '::FFFF:128.0.0.0/97' }],
  ['trusted_proxies', { TRUSTED_PROXIES: '0:0:0::/16' }],
  ['trusted_proxies', { TRUSTED_PROXIES: '::/80' }],
  ['metrics', { METRICS_HOST: '0.0.0.0' }],
  ['metrics', { METRICS_HOST: '0' }],
  ['metrics', { METRICS_HOST: '::' }],
  ['metrics', { METRICS_HOST: '[::]' }],
  ['metrics', { METRICS_HOST: '0x0' }],
  ['metrics', { METRICS_HOST: '::ffff:0.0.0.0' }],
  ['metrics', { METRICS_HOST: '::ffff:0:0' }],
  ['metrics', { METRICS_HOST: '::0.0.0.0' }],
  ['metrics', { METRICS_HOST: '0:0:0:0:0:0:0:0' }],
  ['webhook_networks', { WEBHOOK_ALLOWED_NETWORKS: '0.0.0.0/0' }],
  ['webhook_networks', { WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8,::/0' }],
];

describe('in live', () => {
  test.each(refused)('%s is refused for %j, and accepted by name only', (name, setting) => {
    const problems = problemsOf(setting);
    expect(problems).toEqual([expect.stringContaining(`(INSECURE_ALLOWED=${name} accepts it)`)]);
    expect(problems.join()).not.toContain('canary');
    expect(problemsOf({ ...setting, INSECURE_ALLOWED: name })).toEqual([]);
    const other = name === 'metrics' ? 'temporal' : 'metrics';
    expect(problemsOf({ ...setting, INSECURE_ALLOWED: other })).toEqual(problems);
    expect(problemsOf({ ...setting, ENVIRONMENT: 'demo' })).toEqual([]);
  });

  test('what was accepted is named, for the warning at the start', () => {
    const config = loadConfig({ METRICS_HOST: '0.0.0.0', INSECURE_ALLOWED: 'metrics,temporal' });
    expect(insecuritiesOf(config)).toEqual([
      { name: 'metrics', problem: expect.stringContaining('METRICS_HOST') },
    ]);
  });

  test.each<Record<string, string>>([
    {},
    { SIGN_ON_URL: 'https://id.example.com', GATEWAY_URL: 'https://gateway.example.com' },
    { GATEWAY_URL: 'http://127.0.0.1:4001' },
    { DATABASE_URL: `${REMOTE}?sslmode=verify-full` },
    { DATABASE_URL: 'postgres://u:p@127.0.0.1/x' },
    { DATABASE_URL: 'postgres://u:p@[::1]/x' },
    { DATABASE_URL: 'postgres:///x?host=/var/run/postgresql' },
    { TEMPORAL_ADDRESS: 'localhost:7233' },
    { TEMPORAL_ADDRESS: 'temporal.example.com:7233', TEMPORAL_TLS: 'on' },
    { TEMPORAL_ADDRESS: 'temporal.example.com:7233', TEMPORAL_API_KEY: 'k'.repeat(40) },
    { TRUSTED_PROXIES: '10.0.0.0/8,172.16.0.0/12,fd00::/8,2001:db8::/32' },
    { TRUSTED_PROXIES: '::1,::ffff:10.0.0.0/104' },
    { METRICS_HOST: '10.0.0.7' },
  ])('%j is accepted unchanged', (setting) => {
    expect(problemsOf(setting)).toEqual([]);
  });
});
