import {
  buildId,
  deploymentName,
  durationBetween,
  durationMs,
  grpcAddresses,
  host,
  hostAndPort,
  listOf,
  longSecret,
  network,
  oneOf,
  origin,
  type Parser,
  port,
  postgresUrl,
  rate,
  roleTokens,
  text,
  wholeNumberBetween,
} from './parsers.js';

export interface Setting<T> {
  readonly parse: Parser<T>;
  /** Text as in the environment; absent means the setting may stay unset. */
  readonly fallback?: string | Readonly<Record<'live' | 'demo', string>>;
  readonly about: string;
}

function required<T>(parse: Parser<T>, fallback: NonNullable<Setting<T>['fallback']>, about: string) {
  return { parse, fallback, about } satisfies Setting<T>;
}

function optional<T>(parse: Parser<T>, about: string) {
  return { parse, about } satisfies Setting<T>;
}

function fileOf(name: string): string {
  return `file with ${name}, closed to other users; instead of that setting`;
}

/** Insecure settings that live refuses unless INSECURE_ALLOWED names them. */
export const INSECURITY_NAMES = [
  'sign_on_url',
  'gateway_url',
  'postgres',
  'temporal',
  'trusted_proxies',
  'metrics',
  'webhook_networks',
] as const;

/** With 0, the purge would remove rows as soon as they are written. */
const retention = durationBetween('1s', '999999d');

/** `{ENVIRONMENT}` and other names in a default are replaced by the settings of those names. */
export const settings = {
  ENVIRONMENT: required(oneOf('live', 'demo'), 'live', 'live or demo; the two share no data'),
  DATA_DIR: required(text, '.data/{ENVIRONMENT}', 'where the database and sockets live'),
  DATABASE_URL: optional(postgresUrl, 'PostgreSQL instead of SQLite in DATA_DIR'),
  DATABASE_URL_FILE: optional(text, fileOf('DATABASE_URL')),
  DATABASE_DIRECT_URL: optional(
    postgresUrl,
    'the same database without a pooler in transaction mode, for notifications between domains; unset, DATABASE_URL',
  ),
  DATABASE_DIRECT_URL_FILE: optional(text, fileOf('DATABASE_DIRECT_URL')),
  DATABASE_REPLICA_URL: optional(
    postgresUrl,
    'a streaming replica of that database, not a pooler; it answers gateway reads for which it is up to date',
  ),
  DATABASE_REPLICA_URL_FILE: optional(text, fileOf('DATABASE_REPLICA_URL')),
  SECRETS_KEY_FILE: required(
    text,
    '{DATA_DIR}.keys/secrets.key',
    'keys that encrypt secrets in the database; outside DATA_DIR, so that no backup contains both',
  ),

  LISTEN_HOST: required(host, '127.0.0.1', 'address that the HTTP ports listen on'),
  SIGN_ON_PORT: required(port, '4000', 'HTTP port of the sign-on server'),
  GATEWAY_PORT: required(port, '4001', 'HTTP port of the gateway API'),
  GRPC_HOST: required(host, '127.0.0.1', 'address of the gRPC port; beyond loopback TLS is required'),
  GRPC_PORT: required(
    port,
    '4002',
    'gRPC port for the tokens that `integration token` issues; edge and worker are refused there',
  ),
  METRICS_HOST: required(host, '127.0.0.1', 'address of METRICS_PORT; metrics are for operators only'),
  METRICS_PORT: required(port, '4003', 'HTTP port of /livez, /readyz and /metrics'),
  SIGN_ON_URL: required(origin, 'http://localhost:{SIGN_ON_PORT}', 'public address of the sign-on server'),
  PREVIOUS_SIGN_ON_URL: optional(
    origin,
    'the SIGN_ON_URL of earlier starts, to replace it: the start refuses the database of another issuer',
  ),
  GATEWAY_URL: required(origin, 'http://localhost:{GATEWAY_PORT}', 'public address of the gateway API'),
  DEMO_APP_PORT: required(
    port,
    '4004',
    'loopback port of the demo application, which shows the tokens and claims of a sign-in',
  ),
  DEMO_GATEWAY_URL: optional(
    origin,
    'public address of the gateway of a demo; the documentation of live sends people there to try requests',
  ),
  TRUSTED_PROXIES: required(listOf(network), '', 'proxies that may set X-Forwarded-* headers'),
  INSECURE_ALLOWED: required(
    listOf(
      oneOf(...INSECURITY_NAMES),
      `must be names with commas between them, of ${INSECURITY_NAMES.join(', ')}`,
    ),
    '',
    `insecure settings that live accepts, with a warning at each start: ${INSECURITY_NAMES.join(', ')}`,
  ),

  DOMAIN_ADDRESS: required(
    grpcAddresses,
    'unix:{DATA_DIR}/run/domain.sock',
    'where edge and worker find the domain: unix:/path or host:port; for several domains, host:port with commas between them, or dns:///host:port for all addresses of a name',
  ),
  ROLES_ADDRESS: optional(
    hostAndPort,
    'where the domain takes calls of edge and worker on other machines; unset, only over its socket',
  ),
  EDGE_TOKEN: optional(
    roleTokens,
    'token that the edge sends to the domain; the domain may be given its hash instead (sha256:…); two during a rotation, of which the edge sends the first; serve makes its own',
  ),
  EDGE_TOKEN_FILE: optional(text, fileOf('EDGE_TOKEN')),
  RELAY_TOKEN: optional(roleTokens, 'the same for the deliveries of the worker'),
  RELAY_TOKEN_FILE: optional(text, fileOf('RELAY_TOKEN')),
  MAINTENANCE_TOKEN: optional(roleTokens, 'the same for the schedules of the worker'),
  MAINTENANCE_TOKEN_FILE: optional(text, fileOf('MAINTENANCE_TOKEN')),
  GRPC_TLS_CERT_FILE: optional(
    text,
    'certificate of the gRPC port and of ROLES_ADDRESS; reloaded when it changes, like its key and the files below',
  ),
  GRPC_TLS_KEY_FILE: optional(text, 'private key of that certificate'),
  GRPC_TLS_CA_FILE: optional(text, 'authority of the domain’s certificate, for edge and worker'),
  GRPC_TLS_CLIENT_CA_FILE: optional(
    text,
    'authority of the certificates of edge and worker: ROLES_ADDRESS then refuses connections without one; not for the gRPC port',
  ),
  GRPC_TLS_CLIENT_CERT_FILE: optional(text, 'certificate that edge and worker present to the domain'),
  GRPC_TLS_CLIENT_KEY_FILE: optional(text, 'private key of that certificate'),

  TEMPORAL_ADDRESS: optional(
    hostAndPort,
    'Temporal front end; unset, demo runs its own server, and live retries by the times in the database, without UI and signals',
  ),
  TEMPORAL_NAMESPACE: required(text, '{ENVIRONMENT}', 'Temporal namespace, of this installation alone'),
  TEMPORAL_DEPLOYMENT_NAME: optional(
    deploymentName,
    'Worker Deployment of Temporal (1.28 or later) to which the worker belongs; unset, it polls without a version',
  ),
  TEMPORAL_WORKER_BUILD_ID: optional(
    buildId,
    'version of the worker in that Worker Deployment; unset, the version of the service',
  ),
  TEMPORAL_TLS: required(oneOf('on', 'off'), 'off', 'TLS to Temporal, also without a certificate file'),
  TEMPORAL_API_KEY: optional(longSecret, 'API key for Temporal; it is always sent over TLS'),
  TEMPORAL_API_KEY_FILE: optional(text, fileOf('TEMPORAL_API_KEY')),
  TEMPORAL_TLS_CERT_FILE: optional(text, 'client certificate for Temporal'),
  TEMPORAL_TLS_KEY_FILE: optional(text, 'private key of that certificate'),
  TEMPORAL_TLS_CA_FILE: optional(text, 'authority of Temporal’s certificate'),
  TEMPORAL_UI_URL: optional(
    origin,
    'address of the Temporal UI, to which `integration delivery show` links; the UI that demo runs has its own',
  ),
  TEMPORAL_UI_PORT: required(port, '8233', 'port of the Temporal UI that demo runs, if it is free'),

  SESSION_IDLE_LIMIT: required(
    durationBetween('1m', '30d'),
    '12h',
    'how long a browser stays signed in without going on in a sign-in; pages that are only shown, cancelled or denied do not count',
  ),
  SESSION_LIFETIME: required(
    durationBetween('1m', '365d'),
    '14d',
    'how long a browser stays signed in at most',
  ),
  SIGNING_KEY_LIFETIME: required(
    durationBetween('1h', '3650d'),
    '90d',
    'how long a key signs before the next one takes over',
  ),
  SIGNING_KEY_LEAD: required(
    durationBetween('10m', '30d'),
    '1d',
    'how long a key is published before it signs',
  ),

  GATEWAY_RATE_LIMIT: required(rate, '600/1m', 'requests per integration and window'),
  WEBHOOK_RETRY_DELAYS: required(
    listOf(durationMs, 'must name two waits, such as 30s,5m'),
    '30s,5m',
    'waits before attempts 2 and 3',
  ),
  WEBHOOK_TIMEOUT: required(
    durationBetween('1s', '60s'),
    '15s',
    'time for one attempt, from connecting to the end of the answer; the same on domains and workers',
  ),
  WEBHOOK_SENDS: required(
    wholeNumberBetween(1, 1000),
    '512',
    'attempts that one worker makes at once; the last eighth is for instance integrations with few attempts in progress',
  ),
  WEBHOOK_SENDS_PER_SUBSCRIPTION: required(
    wholeNumberBetween(1, 1000),
    '32',
    'attempts to one subscription at once, of all workers together',
  ),
  WEBHOOK_FAILING_LIMIT: required(
    durationBetween('1m', '365d'),
    '5d',
    'a subscription to which every attempt has failed for this long is disabled',
  ),
  WEBHOOK_ALLOWED_NETWORKS: required(
    listOf(network),
    '',
    'private networks that webhooks may go to; demo allows loopback',
  ),
  WEBHOOK_ALLOWED_PORTS: required(
    listOf(port, 'must be port numbers with commas between them, such as 443,8443'),
    '80,443,8080,8443',
    'ports that webhooks may go to; demo allows every port of loopback',
  ),
  EVENT_RETENTION: required(
    retention,
    '30d',
    'how long events, deliveries and deleted subscriptions are kept',
  ),
  API_KEY_RETENTION: required(
    retention,
    '90d',
    'how long retired signing keys are kept; revoked and expired API keys, tokens and client secrets are kept for the longer of this and AUDIT_RETENTION',
  ),
  AUDIT_RETENTION: required(retention, '365d', 'how long audit records are kept; see also API_KEY_RETENTION'),
  IDEMPOTENCY_RETENTION: required(retention, '7d', 'how long answers to idempotency keys are remembered'),
  PURGE_INTERVAL: required(
    durationBetween('1s', '365d'),
    '1h',
    'how often what is past its retention is removed',
  ),

  DRAIN_DELAY: required(
    durationBetween('0s', '10m'),
    { live: '5s', demo: '0s' },
    'how long a node still serves after a stop signal while /readyz answers 503; longer than load balancers take to notice',
  ),
  ROLE_SILENCE_LIMIT: required(
    durationBetween('4s', '1h'),
    '30s',
    'the supervisor kills and restarts a ready role that does not answer for this long',
  ),
  SHUTDOWN_GRACE: required(durationBetween('0s', '1h'), '10s', 'time that requests under way get to end'),
  FOREIGN_VARIABLES: required(
    listOf(text),
    '',
    'variables of other programs that have the name of a removed setting or look like a misspelt one, which the start refuses or warns of unless they are listed here',
  ),
  LOG_LEVEL: required(oneOf('debug', 'info', 'warn', 'error'), 'info', 'lowest level that is logged'),
  LOG_FORMAT: required(oneOf('json', 'pretty'), 'json', 'one JSON object per line, or lines for people'),
} as const;

/** Removed settings, and what replaces each. */
export const retiredSettings = {
  SERVICE_TOKEN:
    'is replaced by one token per right: set EDGE_TOKEN for the edge, RELAY_TOKEN and MAINTENANCE_TOKEN for the worker, and all three for the domain (or name it in FOREIGN_VARIABLES if another program reads it)',
} as const;

export type SettingName = keyof typeof settings;

type SecretOf<Name> = Name extends `${infer Of}_FILE` ? (Of extends SettingName ? Of : never) : never;

/** Settings that may also come from the file that `…_FILE` names. */
export type SecretSettingName = SecretOf<SettingName>;

export const secretSettings = (Object.keys(settings) as SettingName[]).filter(
  (name): name is SecretSettingName => `${name}_FILE` in settings,
);
