import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Config } from '../config/config.js';
import { addressOf, hostAndPortOf } from '../identifiers/network-address.js';
import { type OpsSource, startOpsServer } from '../telemetry/ops-server.js';
import type { RoleName } from './roles/role.js';
import { cannotListen } from './startup-error.js';

/** No other machine sees the secrets and passwords of the demo application. */
export const DEMO_APP_HOST = '127.0.0.1';

export interface Address {
  host: string;
  port: number;
}

/** A port of the settings. */
export interface Port extends Address {
  setting: string;
  opener: Opener;
}

/** The role that opens a port; a role by itself and a supervisor also open the port of /livez. */
export type Opener = RoleName | 'livez';

/** What /livez says so that the doctor can tell this environment from others. */
export interface Presence {
  dataDir: string;
  ports: readonly Address[];
}

export function portsOf(config: Config): Port[] {
  const { LISTEN_HOST, GRPC_HOST, METRICS_HOST, ENVIRONMENT, ROLES_ADDRESS } = config;
  const { SIGN_ON_PORT, GATEWAY_PORT, METRICS_PORT, GRPC_PORT, DEMO_APP_PORT } = config;
  const ports: Port[] = [
    { setting: 'SIGN_ON_PORT', host: LISTEN_HOST, port: SIGN_ON_PORT, opener: 'edge' },
    { setting: 'GATEWAY_PORT', host: LISTEN_HOST, port: GATEWAY_PORT, opener: 'edge' },
    { setting: 'METRICS_PORT', host: METRICS_HOST, port: METRICS_PORT, opener: 'livez' },
    { setting: 'GRPC_PORT', host: GRPC_HOST, port: GRPC_PORT, opener: 'domain' },
  ];
  if (ROLES_ADDRESS !== undefined) {
    ports.push({ setting: 'ROLES_ADDRESS', ...hostAndPortOf(ROLES_ADDRESS), opener: 'domain' });
  }
  if (ENVIRONMENT === 'demo') {
    ports.push({ setting: 'DEMO_APP_PORT', host: DEMO_APP_HOST, port: DEMO_APP_PORT, opener: 'edge' });
  }
  return ports;
}

/** Listens on each port for a moment. What connects meanwhile gets no answer. */
export async function refuseTakenPorts(config: Config, openers: readonly Opener[]): Promise<void> {
  for (const { setting, opener, ...at } of portsOf(config).filter((port) => openers.includes(port.opener))) {
    const what = opener === 'domain' ? 'The gRPC port' : 'The port';
    const probe = createServer((socket) => socket.destroy()).listen(at);
    await once(probe, 'listening').catch(cannotListen(`${what} ${addressOf(at)}`, setting));
    probe.close();
    await once(probe, 'close');
  }
}

/** For a process that opens these ports. */
export function presenceOf(config: Config, ...openers: readonly Opener[]): Presence {
  const ports = portsOf(config).filter(({ opener }) => openers.includes(opener));
  return { dataDir: realDataDir(config), ports: ports.map(({ host, port }) => ({ host, port })) };
}

/** Two settings may name one directory. */
export function realDataDir({ DATA_DIR }: Config): string {
  try {
    return realpathSync(DATA_DIR);
  } catch {
    return DATA_DIR;
  }
}

/** Serves /livez, /readyz and /metrics on METRICS_PORT. */
export function startOpsOnPort({ METRICS_HOST: host, METRICS_PORT: port }: Config, source: OpsSource) {
  const refuse = cannotListen(`The port ${addressOf({ host, port })}`, 'METRICS_PORT');
  return startOpsServer(source, { host, port }).catch(refuse);
}
