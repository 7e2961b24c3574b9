import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../config/config.js';
import { misspeltIn } from '../config/misspelt.js';
import { packageVersion } from '../config/package.js';
import type { AddressGuardOptions } from '../delivery/address-guard.js';
import type { Retention } from '../domain/maintenance/purge.js';
import { addressOf } from '../identifiers/network-address.js';
import { readSecretsKeys } from '../keys/secrets-key.js';
import { sqliteFileIn } from '../store/data-directory.js';
import { type IssuerClaim, isOfThisMachine } from '../store/issuer.js';
import type { LogOptions } from '../telemetry/log.js';

/** The issuer of the settings. A demo may replace any: the applications of the old one are its own. */
export function issuerClaimOf({ ENVIRONMENT, SIGN_ON_URL, PREVIOUS_SIGN_ON_URL }: Config): IssuerClaim {
  return { issuer: SIGN_ON_URL, replaces: PREVIOUS_SIGN_ON_URL, replacesAny: ENVIRONMENT === 'demo' };
}

/** Undefined for an issuer that only this machine can reach: it tells no installations apart. */
export function namespaceClaimOf(config: Config): IssuerClaim | undefined {
  return isOfThisMachine(config.SIGN_ON_URL) ? undefined : issuerClaimOf(config);
}

/** Where deliveries may go, judged at the registration of an address and again at each connection. */
export function addressRulesOf(config: Config): AddressGuardOptions {
  return {
    httpsOnly: config.ENVIRONMENT === 'live',
    allowedNetworks: config.WEBHOOK_ALLOWED_NETWORKS,
    allowLoopback: config.ENVIRONMENT === 'demo',
    allowedPorts: config.WEBHOOK_ALLOWED_PORTS,
  };
}

export function retentionOf(config: Config): Retention {
  return {
    credentialsMs: config.API_KEY_RETENTION,
    sessionIdleMs: config.SESSION_IDLE_LIMIT,
    auditMs: config.AUDIT_RETENTION,
    idempotencyMs: config.IDEMPOTENCY_RETENTION,
    eventsMs: config.EVENT_RETENTION,
  };
}

export function logOptionsOf(config: Config): Omit<LogOptions, 'role'> {
  return { version: packageVersion, level: config.LOG_LEVEL, format: config.LOG_FORMAT };
}

/** Where to call the gRPC port. */
export function grpcAddressOf({ GRPC_HOST: host, GRPC_PORT: port }: Config): string {
  return addressOf({ host, port });
}

export function demoAppUrl({ DEMO_APP_PORT }: Pick<Config, 'DEMO_APP_PORT'>): string {
  return `http://localhost:${DEMO_APP_PORT}`;
}

/** The workflows of this environment in the UI of Temporal, if the settings say where that is. */
export function temporalUiUrl({ TEMPORAL_UI_URL: url, TEMPORAL_NAMESPACE }: Config): string | undefined {
  return url && `${url}/namespaces/${encodeURIComponent(TEMPORAL_NAMESPACE)}/workflows`;
}

/** SECRETS_KEY_FILE, or the place where the first releases put the file, with a warning about that. */
export function secretsKeyFile({ DATA_DIR, SECRETS_KEY_FILE: path }: Config): {
  path: string;
  warning?: string;
} {
  const before = join(DATA_DIR, 'secrets.key');
  if (path === before || existsSync(path) || path !== `${DATA_DIR}.keys/secrets.key` || !existsSync(before)) {
    return { path };
  }
  const folder = dirname(path);
  return {
    path: before,
    warning: `The key file is in the data directory, so a backup of that directory carries the key to what is encrypted in it. Move it: mkdir -m 700 '${folder}' && mv '${before}' '${path}' (the service may be running).`,
  };
}

/** Throws if the key file cannot be used, or there is no database file. The domain of a demo makes both. */
export function refuseUnusableFiles(config: Config): void {
  const isLive = config.ENVIRONMENT === 'live';
  const { path } = secretsKeyFile(config);
  if (isLive || existsSync(path)) {
    readSecretsKeys(path);
  }
  if (isLive && config.DATABASE_URL === undefined) {
    sqliteFileIn(config.DATA_DIR);
  }
}

/** Variables that look like settings. The start only warns, because another program may read them. */
export function doubtfulNames(config: Config, environment: NodeJS.ProcessEnv): string[] {
  return misspeltIn(environment, config.FOREIGN_VARIABLES).map(({ problem }) => problem);
}
