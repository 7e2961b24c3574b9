import { isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { insecuritiesOf, isLoopback, isLoopbackAddress } from './insecurities.js';
import { misspeltIn } from './misspelt.js';
import type { Parser } from './parsers.js';
import { Secret } from './secret.js';
import { type Source, withSecretsOfFiles } from './secret-files.js';
import {
  retiredSettings,
  type SecretSettingName,
  type Setting,
  type SettingName,
  settings,
} from './settings.js';

type ValueOf<S> = S extends { parse: Parser<infer T> }
  ? S extends { fallback: string | object }
    ? T
    : T | undefined
  : never;

/** Every setting under its own name, validated and frozen. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof settings)[Name]> };

/** Reports all faults of the settings, one line each. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

interface LoadOptions {
  /** Also refuses names that are certainly misspelt. For the start of the service. */
  strict?: boolean;
  /** The secrets to read from files. A role may not be allowed to read those of the others. */
  secrets?: readonly SecretSettingName[];
}

const names = Object.keys(settings) as SettingName[];

export function loadConfig(given: Source, { strict = false, secrets }: LoadOptions = {}): Config {
  const { environment, problems } = withSecretsOfFiles(given, secrets);
  const values: Record<string, unknown> = {};
  for (const name of names) {
    const source = textOf(name, environment);
    if (source === undefined) {
      continue;
    }
    try {
      values[name] = (settings[name] as Setting<unknown>).parse(source);
    } catch (error) {
      // A default made from a faulty setting is not reported again.
      if (isGiven(name, environment)) {
        problems.push(`${name} ${(error as Error).message}`);
      }
    }
  }
  const { FOREIGN_VARIABLES: foreign = [] } = values as Partial<Config>;
  for (const [name, instead] of Object.entries(retiredSettings)) {
    if (environment[name] && !foreign.includes(name)) {
      problems.push(`${name} ${instead}`);
    }
  }
  problems.push(...contradictions(values as Partial<Config>));
  // The driver of PostgreSQL leaves the check of certificates to the default of Node, `verify-full` included.
  if (values.ENVIRONMENT === 'live' && environment.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    problems.push(
      'NODE_TLS_REJECT_UNAUTHORIZED must not be 0 in live: Node would not check certificates, such as that of PostgreSQL. Name a private authority instead: sslrootcert=/path in DATABASE_URL, or NODE_EXTRA_CA_CERTS',
    );
  }
  if (strict) {
    problems.push(...strayDatabases(values as Partial<Config>));
    const found = misspeltIn(environment, foreign);
    problems.push(...found.filter(({ isCertain }) => isCertain).map(({ problem }) => problem));
  }
  if (problems.length > 0) {
    throw new ConfigError(problems);
  }
  values.DATA_DIR = resolve(values.DATA_DIR as string);
  return deepFrozen(values) as Config;
}

/** The settings in force, in the form that the environment takes, for `integration config`. Masks secrets. */
export function describeConfig(config: Config, environment: Source) {
  return names.map((name) => ({
    name,
    value: display(config[name], textOf(name, environment)),
    isDefault: !isGiven(name, environment) && !isGiven(`${name}_FILE`, environment),
    about: settings[name].about,
  }));
}

function isGiven(name: string, environment: Source): boolean {
  return environment[name] !== undefined && environment[name] !== '';
}

function textOf(name: SettingName, environment: Source): string | undefined {
  if (isGiven(name, environment)) {
    return environment[name];
  }
  const { fallback } = settings[name] as Setting<unknown>;
  const text = typeof fallback === 'object' ? fallback[ofEnvironment(environment)] : fallback;
  return text?.replace(/\{(\w+)\}/g, (_, other: SettingName) => {
    const value = textOf(other, environment) ?? '';
    return other === 'DATA_DIR' ? resolve(value) : value;
  });
}

function ofEnvironment(environment: Source): 'live' | 'demo' {
  return textOf('ENVIRONMENT', environment) === 'demo' ? 'demo' : 'live';
}

function contradictions(values: Partial<Config>): string[] {
  const found: string[] = [];
  for (const prefix of ['GRPC_TLS', 'GRPC_TLS_CLIENT', 'TEMPORAL_TLS'] as const) {
    if (Boolean(values[`${prefix}_CERT_FILE`]) !== Boolean(values[`${prefix}_KEY_FILE`])) {
      found.push(`${prefix}_CERT_FILE and ${prefix}_KEY_FILE must be set together`);
    }
  }
  if (values.GRPC_TLS_CLIENT_CERT_FILE && !values.GRPC_TLS_CA_FILE) {
    found.push(
      'GRPC_TLS_CLIENT_CERT_FILE is shown to the domain only over TLS, so GRPC_TLS_CA_FILE must be set',
    );
  }
  if (values.GRPC_TLS_CLIENT_CA_FILE && !(values.ROLES_ADDRESS && values.GRPC_TLS_CERT_FILE)) {
    found.push(
      'GRPC_TLS_CLIENT_CA_FILE is for TLS on ROLES_ADDRESS, so ROLES_ADDRESS, GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE must be set',
    );
  }
  if (values.GRPC_HOST !== undefined && !isLoopback(values.GRPC_HOST) && !values.GRPC_TLS_CERT_FILE) {
    found.push('GRPC_HOST reaches beyond loopback, so GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE must be set');
  }
  if (
    values.ROLES_ADDRESS !== undefined &&
    !isLoopbackAddress(values.ROLES_ADDRESS) &&
    !values.GRPC_TLS_CERT_FILE
  ) {
    found.push(
      'ROLES_ADDRESS reaches beyond loopback, so GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE must be set',
    );
  }
  found.push(...sharedTokens(values));
  for (const { name, problem } of insecuritiesOf(values)) {
    if (!values.INSECURE_ALLOWED?.includes(name)) {
      found.push(`${problem} (INSECURE_ALLOWED=${name} accepts it)`);
    }
  }
  if (values.ENVIRONMENT === 'live' && values.DEMO_GATEWAY_URL === values.GATEWAY_URL && values.GATEWAY_URL) {
    found.push('DEMO_GATEWAY_URL must differ from GATEWAY_URL in live: it is the address of a demo');
  }
  if (values.WEBHOOK_RETRY_DELAYS !== undefined && values.WEBHOOK_RETRY_DELAYS.length !== 2) {
    found.push('WEBHOOK_RETRY_DELAYS must name two waits, such as 30s,5m');
  }
  const { SIGNING_KEY_LIFETIME = Number.POSITIVE_INFINITY, SIGNING_KEY_LEAD = 0 } = values;
  if (SIGNING_KEY_LEAD * 2 > SIGNING_KEY_LIFETIME) {
    found.push('SIGNING_KEY_LEAD must be at most half of SIGNING_KEY_LIFETIME');
  }
  const { ENVIRONMENT, EVENT_RETENTION, WEBHOOK_RETRY_DELAYS = [] } = values;
  const waitsMs = WEBHOOK_RETRY_DELAYS.reduce((sum, waitMs) => sum + waitMs, 0);
  if (ENVIRONMENT === 'live' && EVENT_RETENTION !== undefined && EVENT_RETENTION <= waitsMs) {
    found.push('EVENT_RETENTION must be longer than both waits of WEBHOOK_RETRY_DELAYS together in live');
  }
  const other = ENVIRONMENT === 'live' ? 'demo' : 'live';
  if (ENVIRONMENT !== undefined && values.TEMPORAL_NAMESPACE === other) {
    found.push(`TEMPORAL_NAMESPACE must not be ${other} in ${ENVIRONMENT}: the two share no data`);
  }
  if (values.TEMPORAL_WORKER_BUILD_ID && !values.TEMPORAL_DEPLOYMENT_NAME) {
    found.push('TEMPORAL_WORKER_BUILD_ID is a version in TEMPORAL_DEPLOYMENT_NAME, which must be set');
  }
  found.push(...sharedPorts(values), ...portsOfRolesAddress(values));
  return found;
}

/** Checked only for a start: no command connects to the direct address or to the replica. */
function strayDatabases(values: Partial<Config>): string[] {
  if (values.DATABASE_URL !== undefined || values.DATABASE_URL_FILE !== undefined) {
    return [];
  }
  const found: string[] = [];
  if (values.DATABASE_DIRECT_URL !== undefined) {
    found.push('DATABASE_DIRECT_URL is another address of the PostgreSQL in DATABASE_URL, which must be set');
  }
  if (values.DATABASE_REPLICA_URL !== undefined) {
    found.push('DATABASE_REPLICA_URL is a replica of the PostgreSQL in DATABASE_URL, which must be set');
  }
  return found;
}

/** A token that two roles share would have the rights of both. */
export function sharedTokens(
  values: Pick<Partial<Config>, 'EDGE_TOKEN' | 'RELAY_TOKEN' | 'MAINTENANCE_TOKEN'>,
): string[] {
  const names = ['EDGE_TOKEN', 'RELAY_TOKEN', 'MAINTENANCE_TOKEN'] as const;
  const tokensOf = (name: (typeof names)[number]) => values[name]?.map((token) => token.reveal()) ?? [];
  return names.flatMap((name, index) => {
    const other = names
      .slice(0, index)
      .find((one) => tokensOf(one).some((token) => tokensOf(name).includes(token)));
    return other ? [`${name} must differ from ${other}`] : [];
  });
}

function sharedPorts(values: Partial<Config>): string[] {
  const isDemo = values.ENVIRONMENT === 'demo';
  const ports = [
    'SIGN_ON_PORT',
    'GATEWAY_PORT',
    'GRPC_PORT',
    'METRICS_PORT',
    ...(isDemo ? (['DEMO_APP_PORT'] as const) : []),
    ...(isDemo && values.TEMPORAL_ADDRESS === undefined ? (['TEMPORAL_UI_PORT'] as const) : []),
  ] as const;
  return ports.flatMap((name, index) => {
    const other = ports.slice(0, index).find((earlier) => values[name] && values[earlier] === values[name]);
    return other ? [`${name} is the same as ${other} (${values[name]})`] : [];
  });
}

/** Compared with the ports that every domain opens: edges may have the others on other machines. */
function portsOfRolesAddress({ ROLES_ADDRESS, ...values }: Partial<Config>): string[] {
  if (ROLES_ADDRESS === undefined) {
    return [];
  }
  const { hostname, port } = new URL(`grpc://${ROLES_ADDRESS}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  return (['GRPC', 'METRICS'] as const)
    .filter((name) => String(values[`${name}_PORT`]) === port && overlap(host, values[`${name}_HOST`]))
    .map((name) => `ROLES_ADDRESS has the same port as ${name}_PORT (${port})`);
}

/** Whether a listener on one host keeps others from its port on the other host. `::` includes IPv4. */
export function overlap(one: string, other = ''): boolean {
  const hosts = [one, other];
  const isAny = hosts.includes('::') || (hosts.includes('0.0.0.0') && !hosts.some((host) => isIPv6(host)));
  return isAny || one === other;
}

function deepFrozen(value: object): object {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) {
      deepFrozen(member);
    }
  }
  return Object.freeze(value);
}

/** Text has been resolved by its parser; other values keep the form in which they were given. */
function display(value: Config[SettingName], given = ''): string {
  const isSecret = [value].flat().some((part) => part instanceof Secret);
  return isSecret || typeof value === 'string' ? String(value) : given;
}
