import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package.js';
import { run } from '../support/kept-programs.js';
import { type HostName, hostOf, PORTS, type PublicPorts } from './addresses.js';
import type { PartOptions } from './parts.js';

const INIT_LIMIT_MS = 60_000;

const main = join(packageRoot, 'dist/src/cli/main.js');

export interface NodePlace {
  network: string;
  ports: PublicPorts;
  /** Has the file with the credentials of the demo, which the edges show. */
  folder: string;
  logs: string;
  databaseUrl: string;
  directUrl: string;
  replicaUrl: string;
  /** How to reach Temporal. */
  temporal: Record<string, string>;
  settings: Record<string, string>;
}

/** The roles of the service, two of each, with the settings that they share. */
export class Nodes {
  readonly #shared: Record<string, string>;

  constructor(private readonly place: NodePlace) {
    const { network, ports, folder, databaseUrl, directUrl, replicaUrl, temporal, settings } = place;
    const { PATH = '', NODE_COMPILE_CACHE } = process.env;
    const token = (right: string) => `${right}_demo_${randomBytes(32).toString('hex')}`;
    const domains = (['domain-1', 'domain-2'] as const).map(
      (name) => `${hostOf(network, name)}:${PORTS.roles}`,
    );
    this.#shared = {
      PATH,
      ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
      ENVIRONMENT: 'demo',
      SIGN_ON_PORT: String(PORTS.signOn),
      GATEWAY_PORT: String(PORTS.gateway),
      GRPC_PORT: String(PORTS.grpc),
      METRICS_PORT: String(PORTS.metrics),
      SIGN_ON_URL: `http://localhost:${ports.signOn}`,
      GATEWAY_URL: `http://localhost:${ports.gateway}`,
      DEMO_APP_PORT: String(ports.demoApps[0]),
      TRUSTED_PROXIES: '127.0.0.1',
      SECRETS_KEY_FILE: join(folder, 'keys', 'secrets.key'),
      DATABASE_URL: databaseUrl,
      DATABASE_DIRECT_URL: directUrl,
      DATABASE_REPLICA_URL: replicaUrl,
      DOMAIN_ADDRESS: domains.join(','),
      EDGE_TOKEN: token('edge'),
      RELAY_TOKEN: token('relay'),
      MAINTENANCE_TOKEN: token('maintenance'),
      // HAProxy needs so long to notice.
      DRAIN_DELAY: '2s',
      ...temporal,
      ...settings,
    };
  }

  /** With a data directory of its own, which gets the credentials of the demo. */
  domain(name: 'domain-1' | 'domain-2'): PartOptions {
    const host = hostOf(this.place.network, name);
    return this.#node(name, 'domain', {
      DATA_DIR: this.dataDirOf(name),
      GRPC_HOST: host,
      ROLES_ADDRESS: `${host}:${PORTS.roles}`,
    });
  }

  worker(name: 'worker-1' | 'worker-2'): PartOptions {
    return this.#node(name, 'worker', { DATA_DIR: this.dataDirOf(name) });
  }

  edge(name: 'edge-1' | 'edge-2'): PartOptions {
    const { network, ports, folder } = this.place;
    return this.#node(name, 'edge', {
      DATA_DIR: folder,
      LISTEN_HOST: hostOf(network, name),
      // The demo application stands for that of an integrator, and listens on one address of this machine.
      DEMO_APP_PORT: String(ports.demoApps[name === 'edge-1' ? 0 : 1]),
    });
  }

  /** Makes the namespace and its search attributes; returns what the command says. */
  async initTemporal(): Promise<string> {
    const env = { ...this.#shared, DATA_DIR: this.place.folder };
    const output = await run(process.execPath, [main, 'init', '--temporal'], { env, timeout: INIT_LIMIT_MS });
    return output.trim();
  }

  dataDirOf(name: HostName): string {
    return join(this.place.folder, name);
  }

  #node(name: HostName, role: string, settings: Record<string, string>): PartOptions {
    const host = hostOf(this.place.network, name);
    return {
      name,
      command: process.execPath,
      args: [main, role],
      env: { ...this.#shared, METRICS_HOST: host, ...settings },
      logFile: join(this.place.logs, `${name}.log`),
      serves: async () => (await fetch(`http://${host}:${PORTS.metrics}/readyz`)).ok,
    };
  }
}
