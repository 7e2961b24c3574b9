import { isIPv4 } from 'node:net';
import type { Config } from './config.js';
import { INSECURITY_NAMES } from './settings.js';

interface Insecurity {
  name: (typeof INSECURITY_NAMES)[number];
  /** Names the setting and its remedy. */
  problem: string;
}

/** A narrower block may be the network of the proxies. */
const WIDEST_IPV4 = 8;
const WIDEST_IPV6 = 16;

export function insecuritiesOf(values: Partial<Config>): Insecurity[] {
  if (values.ENVIRONMENT !== 'live') {
    return [];
  }
  const problems: Record<Insecurity['name'], string | undefined> = {
    sign_on_url: isPlainBeyondLoopback(values.SIGN_ON_URL)
      ? 'SIGN_ON_URL must begin with https:// in live: passwords and tokens cross the network'
      : undefined,
    gateway_url: isPlainBeyondLoopback(values.GATEWAY_URL)
      ? 'GATEWAY_URL must begin with https:// in live: API keys and personal data cross the network'
      : undefined,
    postgres: unverifiedPostgres(values),
    temporal: isPlainTemporal(values)
      ? 'TEMPORAL_ADDRESS names another machine, so TEMPORAL_TLS must be on in live'
      : undefined,
    trusted_proxies: values.TRUSTED_PROXIES?.some(isNearlyEverybody)
      ? 'TRUSTED_PROXIES must name proxies, not a large part of the internet: any caller there could forge its address'
      : undefined,
    metrics: isEveryInterface(values.METRICS_HOST)
      ? 'METRICS_HOST must be the address of one interface in live: metrics are for operators only'
      : undefined,
    webhook_networks: values.WEBHOOK_ALLOWED_NETWORKS?.some(isNearlyEverybody)
      ? 'WEBHOOK_ALLOWED_NETWORKS must name single networks: webhooks would reach every private address, such as the metadata of a cloud'
      : undefined,
  };
  return INSECURITY_NAMES.flatMap((name) => {
    const problem = problems[name];
    return problem === undefined ? [] : [{ name, problem }];
  });
}

function isPlainBeyondLoopback(url: string | undefined): boolean {
  return url !== undefined && new URL(url).protocol === 'http:' && !isLoopback(new URL(url).hostname);
}

function unverifiedPostgres(values: Partial<Config>): string | undefined {
  const names = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL'] as const;
  const name = names.find((one) => isUnverifiedPostgres(values[one]?.reveal()));
  return (
    name &&
    `${name} must name this machine or end with sslmode=verify-full in live: all data crosses the network`
  );
}

/** Only `verify-full` means the same to every driver: encryption, and a check of the host name. */
function isUnverifiedPostgres(url: string | undefined): boolean {
  if (url === undefined) {
    return false;
  }
  const { hostname, searchParams } = new URL(url);
  // As pg reads it: the last `host` counts, and an empty one is ignored. Without any, pg reads PGHOST.
  const host = searchParams.getAll('host').at(-1) || decodeURIComponent(hostname);
  const isOfThisMachine = host.startsWith('/') || isLoopback(host);
  const modes = searchParams.getAll('sslmode');
  const isVerified = modes.length === 1 && modes[0] === 'verify-full' && !searchParams.has('ssl');
  return !isOfThisMachine && !isVerified;
}

function isPlainTemporal(values: Partial<Config>): boolean {
  const { TEMPORAL_ADDRESS: address } = values;
  const isSecured =
    values.TEMPORAL_TLS === 'on' ||
    values.TEMPORAL_API_KEY !== undefined ||
    // Commands that call the service, and roles that do not call Temporal, do not read it.
    values.TEMPORAL_API_KEY_FILE !== undefined ||
    values.TEMPORAL_TLS_CA_FILE !== undefined ||
    values.TEMPORAL_TLS_CERT_FILE !== undefined;
  return address !== undefined && !isSecured && !isLoopbackAddress(address);
}

function isNearlyEverybody({ address, prefix, family }: Config['TRUSTED_PROXIES'][number]): boolean {
  if (family === 'ipv4') {
    return prefix < WIDEST_IPV4;
  }
  const written = asHostname(address);
  // IPv4 addresses map into IPv6 as ::ffff:0:0/96; no proxy uses the rest of ::/8.
  if (written?.startsWith('[::')) {
    return prefix < 96 + WIDEST_IPV4;
  }
  const isPrivate = written !== undefined && /^\[f[cd]/.test(written) && prefix >= 7;
  return prefix < WIDEST_IPV6 && !isPrivate;
}

function isEveryInterface(host: string | undefined): boolean {
  if (host === undefined) {
    return false;
  }
  const written = asHostname(host);
  return written === undefined || ['0.0.0.0', '[::]', '[::ffff:0:0]'].includes(written);
}

/** The canonical spelling of an address; undefined if it is none. */
function asHostname(host: string): string | undefined {
  const bare = host.replace(/^\[|\]$/g, '');
  const url = `http://${bare.includes(':') ? `[${bare}]` : bare}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  return bare === 'localhost' || bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'));
}

export function isLoopbackAddress(address: string): boolean {
  return isLoopback(new URL(`grpc://${address}`).hostname);
}
