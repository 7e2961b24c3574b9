/** What `make cluster` runs: all that a deployment of several nodes has, until Ctrl-C. */
import { join, relative } from 'node:path';
import { welcome } from '../../src/cli/demo/welcome.js';
import { loadConfig } from '../../src/config/config.js';
import { packageRoot } from '../../src/config/package.js';
import { HOSTS, type HostName, hostOf, PORTS, USUAL_NETWORK, USUAL_PORTS } from './addresses.js';
import { startCluster } from './cluster.js';
import { findTemporalServer, howToAskTemporal } from './temporal-programs.js';

const folder = join(packageRoot, '.data/cluster');

const say = (line: string) => process.stdout.write(`${line}\n`);

if (process.platform !== 'linux') {
  process.stderr.write(
    'Only Linux has the addresses 127.0.0.11 to 127.0.0.42, which `make cluster` needs.\n',
  );
  process.exit(1);
}
const stopping = new AbortController();
const stopped = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      stopping.abort(new Error('Stopped.'));
      resolve();
    });
  }
});

const network = USUAL_NETWORK;
const ports = USUAL_PORTS;
const shown = relative(process.cwd(), folder);
const config = loadConfig({
  ENVIRONMENT: 'demo',
  LOG_LEVEL: 'error',
  LOG_FORMAT: 'pretty',
  DATA_DIR: shown,
  METRICS_HOST: hostOf(network, 'edge-1'),
});
const fail = (error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
};
const { signal } = stopping;
// Without it, the cluster retries by the times in the database.
const temporal = await findTemporalServer({ signal, onProgress: say }).catch((error: Error) => {
  if (signal.aborted) {
    fail(error);
  }
  say(`${error.message} The cluster starts without Temporal.`);
  return undefined;
});
const options = { network, ports, folder, temporal, onProgress: say, signal };
const cluster = await startCluster(options).catch(fail);

const rows = [
  ...(Object.keys(HOSTS) as HostName[])
    .filter((name) => temporal || !name.startsWith('temporal'))
    .map((name) => [name, `${hostOf(network, name)}:${portOf(name)}`]),
  ['haproxy', `http://localhost:${ports.haproxy}`],
  ['prometheus', `http://localhost:${ports.prometheus}`],
] as const;
say('\nEach part has an address of its own; of the roles, that of health and metrics:\n');
for (const [name, address] of rows) {
  say(`  ${name.padEnd(16)} ${address.padEnd(24)} process ${cluster.part(name).pid}`);
}
say(`
Logs: ${shown}/logs

Kill a domain, an edge and the replica; reading goes on:

  kill -9 ${cluster.part('domain-1').pid} ${cluster.part('edge-2').pid} ${cluster.part('replica').pid}
${temporal ? await howToAskTemporal(cluster.part('temporal-1').pid, ports, shown) : ''}`);
welcome(config, say);

await stopped;
say('\nStopping everything...');
await cluster.stop();
process.exit(0);

function portOf(name: HostName): number {
  if (name === 'pgbouncer') {
    return PORTS.pgbouncer;
  }
  if (name.startsWith('temporal')) {
    return PORTS.temporal;
  }
  return name === 'primary' || name === 'replica' ? PORTS.postgres : PORTS.metrics;
}
