import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { newAuthority } from '../support/self-signed-certificate.js';
import { hostOf, PORTS, type PublicPorts } from './addresses.js';
import type { PartOptions } from './parts.js';
import type { TemporalPrograms } from './temporal-programs.js';

/** The names of the databases with their schemas in the tool. */
export const TEMPORAL_DATABASES = {
  temporal: 'postgresql/v12/temporal',
  temporal_visibility: 'postgresql/v12/visibility',
} as const;

/** Ports for gRPC between nodes and for membership, of each service. */
const SERVICES = {
  frontend: [PORTS.temporal, 6933],
  history: [7234, 6934],
  matching: [7235, 6935],
  worker: [7239, 6939],
} as const;

/** Of each service of each node: together 96, which PostgreSQL accepts beside those of the domains. */
const CONNECTIONS = { temporal: 8, temporal_visibility: 4 };
const SHARDS = 4;
const ANSWER_LIMIT_MS = 1_000;

type NodeName = 'temporal-1' | 'temporal-2';

export interface TemporalPlace {
  programs: TemporalPrograms;
  network: string;
  ports: PublicPorts;
  folder: string;
  logs: string;
  /** Of the primary, which both nodes use without PgBouncer. */
  databaseHost: string;
  password: string;
}

/** Two nodes, each with all services of Temporal, on databases of PostgreSQL, with TLS everywhere. */
export class Temporal {
  readonly #files: { ca: string; certificate: string; key: string };

  constructor(private readonly place: TemporalPlace) {
    const { folder } = place;
    const inside = (name: string) => join(folder, 'temporal', name);
    this.#files = { ca: inside('ca.crt'), certificate: inside('tls.crt'), key: inside('tls.key') };
    mkdirSync(inside('.'), { recursive: true, mode: 0o700 });
    const authority = newAuthority('temporal');
    const { certificate, key } = authority.issue();
    writeFileSync(this.#files.ca, authority.certificate);
    writeFileSync(this.#files.certificate, certificate);
    writeFileSync(this.#files.key, key, { mode: 0o600 });
  }

  /** What the service needs to reach it, through HAProxy. */
  get settings(): Record<string, string> {
    return {
      TEMPORAL_ADDRESS: `127.0.0.1:${this.place.ports.temporal}`,
      TEMPORAL_TLS: 'on',
      TEMPORAL_TLS_CA_FILE: this.#files.ca,
      TEMPORAL_DEPLOYMENT_NAME: 'integration',
    };
  }

  /** Makes the tables in the databases, which exist. */
  makeTables(): void {
    for (const [database, schema] of Object.entries(TEMPORAL_DATABASES)) {
      this.#sqlTool(database, 'setup-schema', '--version', '0.0');
      this.#sqlTool(database, 'update-schema', '--schema-name', schema);
    }
  }

  node(name: NodeName): PartOptions {
    const host = hostOf(this.place.network, name);
    const folder = join(this.place.folder, 'temporal', name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // JSON is YAML.
    writeFileSync(join(folder, 'node.yaml'), JSON.stringify(this.#configOf(host), null, 2), { mode: 0o600 });
    return {
      name,
      command: this.place.programs.server,
      args: ['--root', folder, '--config', '.', '--env', 'node', '--allow-no-auth', 'start'],
      logFile: join(this.place.logs, `${name}.log`),
      serves: () => accepts(host, PORTS.temporal),
    };
  }

  #configOf(host: string) {
    const { ca, certificate, key } = this.#files;
    const server = { certFile: certificate, keyFile: key };
    const client = { serverName: 'localhost', rootCaFiles: [ca] };
    return {
      log: { stdout: true, level: 'warn' },
      persistence: {
        defaultStore: 'temporal',
        visibilityStore: 'temporal_visibility',
        numHistoryShards: SHARDS,
        datastores: {
          temporal: this.#storeOf('temporal'),
          temporal_visibility: this.#storeOf('temporal_visibility'),
        },
      },
      global: {
        membership: { maxJoinDuration: '30s', broadcastAddress: host },
        tls: {
          // Nodes show each other certificates; clients of the front ends need none.
          internode: { server: { ...server, requireClientAuth: true, clientCaFiles: [ca] }, client },
          frontend: { server, client },
        },
      },
      services: Object.fromEntries(
        Object.entries(SERVICES).map(([name, [grpcPort, membershipPort]]) => [
          name,
          { rpc: { grpcPort, membershipPort, bindOnIP: host } },
        ]),
      ),
      clusterMetadata: {
        enableGlobalNamespace: false,
        failoverVersionIncrement: 10,
        masterClusterName: 'active',
        currentClusterName: 'active',
        clusterInformation: {
          active: {
            enabled: true,
            initialFailoverVersion: 1,
            rpcName: 'frontend',
            rpcAddress: `${host}:${PORTS.temporal}`,
          },
        },
      },
      dcRedirectionPolicy: { policy: 'noop' },
    };
  }

  #storeOf(database: keyof typeof CONNECTIONS) {
    const { databaseHost, password } = this.place;
    return {
      sql: {
        pluginName: 'postgres12',
        databaseName: database,
        connectAddr: `${databaseHost}:${PORTS.postgres}`,
        connectProtocol: 'tcp',
        user: 'temporal',
        password,
        maxConns: CONNECTIONS[database],
        maxIdleConns: CONNECTIONS[database],
        maxConnLifetime: '1h',
      },
    };
  }

  #sqlTool(database: string, ...args: string[]): void {
    const { programs, databaseHost, password } = this.place;
    const { status, stderr, stdout, error } = spawnSync(programs.sqlTool, args, {
      encoding: 'utf8',
      env: {
        SQL_PLUGIN: 'postgres12',
        SQL_HOST: databaseHost,
        SQL_PORT: String(PORTS.postgres),
        SQL_USER: 'temporal',
        SQL_PASSWORD: password,
        SQL_DATABASE: database,
      },
    });
    if (status !== 0) {
      throw new Error(`temporal-sql-tool ${args[0]} failed: ${error?.message ?? `${stdout}${stderr}`}`);
    }
  }
}

/** Whether something accepts connections there. */
export function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.setTimeout(ANSWER_LIMIT_MS, () => end(false));
    socket.once('error', () => end(false)).once('connect', () => end(true));
  });
}
