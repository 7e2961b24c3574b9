import { describe, expect, test } from '@jest/globals';
import { ConfigError, loadConfig } from '../../src/config/config.js';
import { problemsOf } from './problems.js';

const PORTS = [
  '-1',
  '65536',
  '99999',
  '100000',
  '80 ',
  ' 80',
  '8.0',
  '1e3',
  '0x50',
  'http',
  '４０００',
  'NaN',
];
const DURATIONS = ['5', 's', '-5s', '5 s', '1.5s', '5S', '5w', '1h30m', '9999999999s', 'Infinity', '0x5s'];
const ORIGINS = [
  'gateway.example.com',
  'ftp://gateway.example.com',
  'https://',
  'https:gateway.example.com',
  'https://gateway.example.com/path',
  'https://gateway.example.com//',
  'https://gateway.example.com?',
  'https://gateway.example.com#',
  'https://gateway.example.com\\',
  'https://user@gateway.example.com',
  'https://a b.example.com',
  'https://a"b.example.com',
  "https://a'b.example.com",
  'https://a;b.example.com',
  'https://a<b.example.com',
  'http://localhost:99999',
  'javascript:alert(1)',
];
const HOSTS = [
  'localhost',
  ':7233',
  'localhost:',
  'localhost:x',
  'a b:1',
  'h:0',
  'h:65536',
  '::1:7233',
  'http://h:1',
  '[zz]:1',
  '[:::::]:1',
  '[10.0.0.1]:1',
  '[fe80::1%eth0]:1',
  'user@h:1',
  'user:secret@h:1',
  'h?:1',
  'h#:1',
  'h%20:1',
  '"h":1',
];
const NETWORKS = [
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/8/9',
  '10.0.0.0/-1',
  '10.0.0.0/8.5',
  '10.0.0.0/1e1',
  '10.0.0.0/0x8',
  '10.0.0/8',
  '::1/129',
  'proxy.example.com',
  '10.0.0.1, nonsense',
  '/8',
];

const table: Record<string, string[]> = {
  ENVIRONMENT: ['prod', 'LIVE', 'live ', 'demo,live'],
  SIGN_ON_PORT: PORTS,
  GATEWAY_PORT: PORTS,
  GRPC_PORT: PORTS,
  METRICS_PORT: PORTS,
  DEMO_APP_PORT: PORTS,
  TEMPORAL_UI_PORT: PORTS,
  SIGN_ON_URL: ORIGINS,
  GATEWAY_URL: ORIGINS,
  DEMO_GATEWAY_URL: ORIGINS,
  DATABASE_URL: ['mysql://host/db', 'localhost:5432', 'postgres', '/var/run/db', 'http://host/db'],
  DATABASE_DIRECT_URL: ['mysql://host/db', 'db:5432'],
  DATABASE_REPLICA_URL: ['mysql://host/db', 'db:5432'],
  TEMPORAL_ADDRESS: HOSTS,
  DOMAIN_ADDRESS: [
    ...HOSTS,
    'unix:',
    'tcp:h',
    ',',
    'one:4005;two:4005',
    'one:4005,two',
    'one:4005,unix:/run/domain.sock',
    'unix:/run/domain.sock,one:4005',
    'dns:///',
    'dns:///one',
    'dns:one:4005',
    Array.from({ length: 17 }, (_, index) => `domain-${index}:4005`).join(),
  ],
  TRUSTED_PROXIES: NETWORKS,
  GATEWAY_RATE_LIMIT: [
    '600',
    '600/',
    '/1m',
    '0/1m',
    '-1/1m',
    '600/m',
    '600/0s',
    '600/999ms',
    '600/366d',
    '1.5/1m',
    '6e2/1m',
  ],
  WEBHOOK_RETRY_DELAYS: ['30s', '30s,5m,1h', ',', '30s;5m', '30s,5'],
  EVENT_RETENTION: [...DURATIONS, '0s', '999ms'],
  API_KEY_RETENTION: [...DURATIONS, '0d'],
  AUDIT_RETENTION: ['0ms'],
  IDEMPOTENCY_RETENTION: ['0h', '1000000d'],
  PURGE_INTERVAL: [...DURATIONS, '0s', '999ms', '366d'],
  // Node fires a timer of more than 24 days at once, so that a long grace would be none.
  SHUTDOWN_GRACE: [...DURATIONS, '61m', '30d'],
  LOG_LEVEL: ['trace', 'INFO', 'silent'],
  LOG_FORMAT: ['text', 'JSON'],
};

describe.each(Object.entries(table))('%s', (name, wrong) => {
  test.each(wrong)('%j is refused in a sentence that names it and nothing else', (value) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name} must (be|have|name) `))]);
  });
});

test.each([
  ['SIGN_ON_URL', 'https://id.example.com/', 'https://id.example.com'],
  ['SIGN_ON_URL', 'HTTPS://ID.Example.COM:443', 'https://id.example.com'],
  ['GATEWAY_URL', 'http://[::1]:4001', 'http://[::1]:4001'],
  ['DEMO_GATEWAY_URL', 'https://demo.example.com/', 'https://demo.example.com'],
  ['GATEWAY_PORT', '0', 0],
  ['GATEWAY_PORT', '65535', 65_535],
  ['LISTEN_HOST', '[::1]', '::1'],
  ['GRPC_HOST', '[::1]', '::1'],
  ['METRICS_HOST', 'metrics.internal', 'metrics.internal'],
  ['METRICS_HOST', '[::1]', '::1'],
  ['TEMPORAL_ADDRESS', '[::1]:7233', '[::1]:7233'],
  ['DOMAIN_ADDRESS', 'domain_1.bücher-laden.example:4005', 'domain_1.bücher-laden.example:4005'],
  ['DOMAIN_ADDRESS', 'उदाहरण.example:4005', 'उदाहरण.example:4005'],
  ['DOMAIN_ADDRESS', '[::ffff:10.0.0.1]:4005', '[::ffff:10.0.0.1]:4005'],
  ['DOMAIN_ADDRESS', 'unix:/run/domain.sock', 'unix:/run/domain.sock'],
  ['DOMAIN_ADDRESS', 'unix:/srv/a,b/run/domain.sock', 'unix:/srv/a,b/run/domain.sock'],
  ['DOMAIN_ADDRESS', 'one:4005 , [::1]:4005,dns:///two:4005,', 'one:4005,[::1]:4005,dns:///two:4005'],
  [
    'TRUSTED_PROXIES',
    '::1 , 10.0.0.0/8,',
    [
      { address: '::1', prefix: 128, family: 'ipv6' },
      { address: '10.0.0.0', prefix: 8, family: 'ipv4' },
    ],
  ],
  ['GATEWAY_RATE_LIMIT', '1/1s', { limit: 1, windowMs: 1_000 }],
  ['SHUTDOWN_GRACE', '250ms', 250],
  ['EVENT_RETENTION', '12h', 43_200_000],
  ['WEBHOOK_RETRY_DELAYS', ' 1s , 2m', [1_000, 120_000]],
] as const)('%s takes %j', (name, text, value) => {
  expect(loadConfig({ [name]: text })[name]).toEqual(value);
});

test.each([
  ['WEBHOOK_RETRY_DELAYS', '[30000,300000]', 'must name two waits, such as 30s,5m'],
  ['WEBHOOK_RETRY_DELAYS', '30s', 'must name two waits, such as 30s,5m'],
  ['WEBHOOK_ALLOWED_PORTS', '[80,443]', 'must be port numbers with commas between them, such as 443,8443'],
  ['GATEWAY_RATE_LIMIT', '{"limit":600,"windowMs":60000}', 'must be a rate such as 600/1m'],
  ['GATEWAY_RATE_LIMIT', '600/60000', 'must be a rate such as 600/1m'],
  ['SESSION_IDLE_LIMIT', '43200000', 'must have a unit, as in 250ms, 30s, 5m, 12h or 30d'],
  ['SESSION_IDLE_LIMIT', '12 hours', 'must be a duration such as 250ms, 30s, 5m, 12h or 30d'],
  ['PURGE_INTERVAL', '0', 'must be between 1s and 365d'],
])('%s as %s is refused with the form that it takes', (name, value, refusal) => {
  expect(problemsOf({ [name]: value })).toEqual([`${name} ${refusal}`]);
});

test('INSECURE_ALLOWED as a JSON list is refused with the names that it takes', () => {
  expect(problemsOf({ INSECURE_ALLOWED: '["sign_on_url"]' })).toEqual([
    expect.stringMatching(/^INSECURE_ALLOWED must be names with commas between them, of \w+, /),
  ]);
});

describe('what contradicts itself', () => {
  const tls = { GRPC_TLS_CERT_FILE: 'c', GRPC_TLS_KEY_FILE: 'k' };
  const CLIENTS_UNPROVED =
    'GRPC_TLS_CLIENT_CA_FILE is for TLS on ROLES_ADDRESS, so ROLES_ADDRESS, GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE must be set';

  test.each<[Record<string, string>, string]>([
    [{ GRPC_TLS_CERT_FILE: 'c' }, 'GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE must be set together'],
    [{ GRPC_TLS_KEY_FILE: 'k' }, 'GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE must be set together'],
    [
      { GRPC_TLS_CLIENT_CERT_FILE: 'c', GRPC_TLS_CA_FILE: 'a' },
      'GRPC_TLS_CLIENT_CERT_FILE and GRPC_TLS_CLIENT_KEY_FILE must be set together',
    ],
    [
      { GRPC_TLS_CLIENT_CERT_FILE: 'c', GRPC_TLS_CLIENT_KEY_FILE: 'k' },
      'GRPC_TLS_CLIENT_CERT_FILE is shown to the domain only over TLS, so GRPC_TLS_CA_FILE must be set',
    ],
    [{ GRPC_TLS_CLIENT_CA_FILE: 'a', ...tls }, CLIENTS_UNPROVED],
    [{ GRPC_TLS_CLIENT_CA_FILE: 'a', ROLES_ADDRESS: 'localhost:4005' }, CLIENTS_UNPROVED],
    [
      { TEMPORAL_TLS_CERT_FILE: 'c' },
      'TEMPORAL_TLS_CERT_FILE and TEMPORAL_TLS_KEY_FILE must be set together',
    ],
    [{ TEMPORAL_TLS_KEY_FILE: 'k' }, 'TEMPORAL_TLS_CERT_FILE and TEMPORAL_TLS_KEY_FILE must be set together'],
    [
      { SIGNING_KEY_LIFETIME: '1h', SIGNING_KEY_LEAD: '31m' },
      'SIGNING_KEY_LEAD must be at most half of SIGNING_KEY_LIFETIME',
    ],
    [
      { GATEWAY_URL: 'https://gateway.example.com', DEMO_GATEWAY_URL: 'https://gateway.example.com/' },
      'DEMO_GATEWAY_URL must differ from GATEWAY_URL in live: it is the address of a demo',
    ],
    [
      { EVENT_RETENTION: '5m' },
      'EVENT_RETENTION must be longer than both waits of WEBHOOK_RETRY_DELAYS together in live',
    ],
    [{ TEMPORAL_NAMESPACE: 'demo' }, 'TEMPORAL_NAMESPACE must not be demo in live: the two share no data'],
    [
      { ENVIRONMENT: 'demo', TEMPORAL_NAMESPACE: 'live' },
      'TEMPORAL_NAMESPACE must not be live in demo: the two share no data',
    ],
    [
      { TEMPORAL_WORKER_BUILD_ID: '1.4.0' },
      'TEMPORAL_WORKER_BUILD_ID is a version in TEMPORAL_DEPLOYMENT_NAME, which must be set',
    ],
    [{ GATEWAY_PORT: '4000' }, 'GATEWAY_PORT is the same as SIGN_ON_PORT (4000)'],
    [{ ENVIRONMENT: 'demo', METRICS_PORT: '8233' }, 'TEMPORAL_UI_PORT is the same as METRICS_PORT (8233)'],
    [{ ENVIRONMENT: 'demo', DEMO_APP_PORT: '4002' }, 'DEMO_APP_PORT is the same as GRPC_PORT (4002)'],
    [{ ROLES_ADDRESS: '127.0.0.1:4002' }, 'ROLES_ADDRESS has the same port as GRPC_PORT (4002)'],
    [
      { ROLES_ADDRESS: '0.0.0.0:4003', METRICS_HOST: '10.0.0.7', ...tls },
      'ROLES_ADDRESS has the same port as METRICS_PORT (4003)',
    ],
    [{ ROLES_ADDRESS: '[::]:4002', ...tls }, 'ROLES_ADDRESS has the same port as GRPC_PORT (4002)'],
  ])('%j is refused', (environment, problem) => {
    expect(problemsOf(environment)).toEqual([problem]);
  });

  test.each([
    '0.0.0.0',
    '::',
    '192.168.1.1',
    'grpc.example.com',
    '127.evil.example.com',
    '128.0.0.1',
    'localhost.example.com',
  ])('gRPC on %s needs TLS', (host) => {
    expect(problemsOf({ GRPC_HOST: host })).toEqual([
      'GRPC_HOST reaches beyond loopback, so GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE must be set',
    ]);
    expect(problemsOf({ GRPC_HOST: host, ...tls })).toEqual([]);
  });

  test.each(['localhost', '127.0.0.1', '127.1.2.3', '::1'])('gRPC on %s does not', (host) => {
    expect(problemsOf({ GRPC_HOST: host })).toEqual([]);
  });

  const PLAIN =
    'SIGN_ON_URL must begin with https:// in live: passwords and tokens cross the network (INSECURE_ALLOWED=sign_on_url accepts it)';

  test.each([
    'http://id.example.com',
    'http://10.0.0.7:4000',
    'http://[2001:db8::1]',
    'http://127.evil.example',
  ])('live does not sign people in over %s', (url) => {
    expect(problemsOf({ SIGN_ON_URL: url })).toEqual([PLAIN]);
    expect(problemsOf({ SIGN_ON_URL: url, ENVIRONMENT: 'demo' })).toEqual([]);
  });

  test.each(['https://id.example.com', 'http://localhost:4000', 'http://127.0.0.1', 'http://[::1]:4000'])(
    'live signs people in over %s',
    (url) => {
      expect(problemsOf({ SIGN_ON_URL: url })).toEqual([]);
    },
  );

  test.each<Record<string, string>>([
    { GRPC_PORT: '4004' },
    { SIGN_ON_PORT: '8233' },
    { ENVIRONMENT: 'demo', TEMPORAL_ADDRESS: 'localhost:7233', SIGN_ON_PORT: '8233' },
    { ROLES_ADDRESS: '127.0.0.2:4002' },
    { ROLES_ADDRESS: '[::1]:4002', GRPC_HOST: '0.0.0.0', ...tls },
    { ROLES_ADDRESS: '127.0.0.1:4001' },
  ])('ports of %j may be the same', (environment) => {
    expect(problemsOf(environment)).toEqual([]);
  });

  test('several ports of 0 are no contradiction: the system chooses', () => {
    expect(problemsOf({ GATEWAY_PORT: '0', SIGN_ON_PORT: '0' })).toEqual([]);
  });
});

describe('the message', () => {
  test('names everything that is wrong at once, a line each, and nothing that follows from it', () => {
    const environment = { ENVIRONMENT: 'prod', SIGN_ON_PORT: 'x', GATEWAY_PORT: '4002', SHUTDOWN_GRACE: '1' };
    const problems = [
      'ENVIRONMENT must be one of live, demo',
      'SIGN_ON_PORT must be a port number between 0 and 65535',
      'SHUTDOWN_GRACE must have a unit, as in 250ms, 30s, 5m, 12h or 30d',
      'GRPC_PORT is the same as GATEWAY_PORT (4002)',
    ];
    expect(problemsOf(environment)).toEqual(problems);
    expect(() => loadConfig(environment)).toThrow(new ConfigError(problems).message);
    expect(new ConfigError(problems).message).toBe(
      `The settings cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
  });

  test('never repeats a value, which may be a secret in the wrong place', () => {
    const names = Object.keys(table);
    const problems = problemsOf(Object.fromEntries(names.map((name) => [name, 'canary://u:canary@h'])));
    expect(problems.length).toBeGreaterThanOrEqual(names.length);
    expect(problems.join()).not.toContain('canary');
  });
});
