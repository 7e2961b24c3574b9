import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DemoFile, demoFilePath, writeDemoFile } from '../../src/cli/demo/demo-file.js';
import { isListening } from '../../src/cli/sockets.js';
import { addressesOf, hostOf, PORTS, type PublicPorts } from './addresses.js';
import { Nodes } from './nodes.js';
import { giveToOrdinaryUser, type Part, type PartOptions, startPart } from './parts.js';
import { haproxy, pgbouncer, prometheus, untilHaproxyKnows } from './peers.js';
import { Postgres } from './postgres.js';
import { TEMPORAL_DATABASES, Temporal } from './temporal.js';
import type { TemporalPrograms } from './temporal-programs.js';

export interface ClusterOptions {
  /** The first three numbers of the addresses of the parts. */
  network: string;
  ports: PublicPorts;
  /** Emptied first. Gets credentials of the demo, settings and logs. */
  folder: string;
  /** Without them, the cluster has no Temporal. */
  temporal?: TemporalPrograms | undefined;
  /** Further settings of all roles. */
  settings?: Record<string, string>;
  onProgress?: (line: string) => void;
  /** Ends the start. */
  signal?: AbortSignal;
}

/** A running cluster. */
export interface Cluster {
  /** Where `demo.json` is, with the address of HAProxy. */
  folder: string;
  demo: DemoFile;
  /** The primary, for questions of its superuser. */
  adminUrl: string;
  ports: PublicPorts;
  pgbouncerUrl: string;
  part(name: string): Part;
  /** In the order of the end of a deployment. */
  stop(): Promise<void>;
}

/** Starts everything; if a part does not start, ends what has started, and throws the reason. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { folder, network, ports, signal, onProgress = () => undefined } = options;
  const parts: Part[] = [];
  const logs = join(folder, 'logs');
  await refuseTakenAddresses(options);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  // PostgreSQL and PgBouncer may run as another user, who cannot enter each folder.
  const open = mkdtempSync(join(tmpdir(), 'cluster-'));
  const start = async (...wanted: PartOptions[]) => {
    onProgress(`Starting ${wanted.map(({ name }) => name).join(' and ')}...`);
    const starts = wanted.map((one) => startPart(one, (part) => parts.push(part), signal));
    // All of them are over when the first failure is told.
    await Promise.allSettled(starts);
    await Promise.all(starts);
  };
  const stop = async () => {
    for (const group of ENDS) {
      await Promise.all(parts.flatMap((part) => (group.test(part.name) ? [part.stop()] : [])));
    }
    rmSync(open, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    giveToOrdinaryUser(open);
    const postgres = new Postgres({ network, folder: open, logs });
    const peers = { network, ports, folder: open, logs };
    const pooled = postgres.urlAt(hostOf(network, 'pgbouncer'), PORTS.pgbouncer);
    const temporal = options.temporal && temporalOf(options, options.temporal, postgres, logs);
    const nodes = new Nodes({
      ...{ network, ports, folder, logs, temporal: temporal?.settings ?? {} },
      ...{ settings: options.settings ?? {} },
      databaseUrl: pooled,
      directUrl: postgres.urlAt(hostOf(network, 'primary')),
      replicaUrl: postgres.urlAt(hostOf(network, 'replica')),
    });
    onProgress('Making the files of PostgreSQL...');
    postgres.make();
    await start(postgres.primary());
    await postgres.prepare();
    await start(postgres.replica(), pgbouncer(peers, pooled));
    if (temporal) {
      onProgress('Making the databases of Temporal...');
      await postgres.prepareTemporal(Object.keys(TEMPORAL_DATABASES));
      temporal.makeTables();
      // The first node makes the records of the cluster, which the second one reads.
      await start(temporal.node('temporal-1'));
      await start(temporal.node('temporal-2'));
    }
    await start(haproxy(peers));
    if (temporal) {
      await untilHaproxyKnows(ports, 2, /^temporal,temporal-\d,/, signal);
      onProgress(await nodes.initTemporal());
    }
    await start(nodes.domain('domain-1'));
    // The credentials of the demo are in the database once.
    mkdirSync(nodes.dataDirOf('domain-2'), { recursive: true });
    copyFileSync(demoFilePath(nodes.dataDirOf('domain-1')), demoFilePath(nodes.dataDirOf('domain-2')));
    const demo = {
      ...JSON.parse(readFileSync(demoFilePath(nodes.dataDirOf('domain-1')), 'utf8')),
      grpcAddress: `127.0.0.1:${ports.grpc}`,
    } as DemoFile;
    writeDemoFile(demoFilePath(folder), demo);
    await start(
      nodes.domain('domain-2'),
      ...(['worker-1', 'worker-2'] as const).map((name) => nodes.worker(name)),
      ...(['edge-1', 'edge-2'] as const).map((name) => nodes.edge(name)),
    );
    await untilHaproxyKnows(ports, 6, /^(?:sign_on|gateway|grpc),(?:edge|domain)-\d,/, signal);
    await start(prometheus(peers));
    return {
      ...{ folder, demo, ports, stop },
      adminUrl: postgres.adminUrl,
      pgbouncerUrl: pooled,
      part: (wanted) => parts.find(({ name }) => name === wanted) as Part,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Another cluster may use the same folder; another program would be taken for a part of this one. */
async function refuseTakenAddresses({ network, ports }: ClusterOptions): Promise<void> {
  for (const at of addressesOf(network, ports)) {
    if (await isListening(at)) {
      throw new Error(
        `${at.host}:${at.port} is taken, by another cluster or another program. Stop that one first.`,
      );
    }
  }
}

/** In a deployment the edges end first; the databases last. */
const ENDS = [
  /prometheus/,
  /^edge/,
  /^worker/,
  /haproxy/,
  /^domain/,
  /^temporal/,
  /pgbouncer/,
  /replica/,
  /primary/,
];

function temporalOf(
  { folder, network, ports }: ClusterOptions,
  programs: TemporalPrograms,
  { password }: Postgres,
  logs: string,
): Temporal {
  const databaseHost = hostOf(network, 'primary');
  return new Temporal({ programs, network, ports, folder, logs, databaseHost, password });
}
