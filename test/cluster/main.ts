/** What `make cluster` runs: all that a deployment of several nodes has, until Ctrl-C. */
import { join, relative } from 'node:path';
import { welcome } from '../../src/cli/demo/welcome.js';
import { logOptionsOf } from '../../src/cli/log-options.js';
import { freeTemporalAddress } from '../../src/cli/supervisor/temporal-address.js';
import { TemporalOfDemo } from '../../src/cli/supervisor/temporal-of-demo.js';
import { loadConfig } from '../../src/config/config.js';
import { packageRoot } from '../../src/config/package.js';
import { createLog } from '../../src/telemetry/log.js';
import { HOSTS, type HostName, hostOf, PORTS, USUAL_NETWORK, USUAL_PORTS } from './addresses.js';
import { startCluster } from './cluster.js';

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
const temporalAddress = await freeTemporalAddress();
const config = loadConfig({
  ENVIRONMENT: 'demo',
  LOG_LEVEL: 'error',
  LOG_FORMAT: 'pretty',
  DATA_DIR: shown,
  METRICS_HOST: hostOf(network, 'edge-1'),
  TEMPORAL_UI_PORT: String(ports.temporalUi),
});
const options = { network, ports, folder, temporalAddress, onProgress: say, signal: stopping.signal };
const cluster = await startCluster(options).catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
const temporal = new TemporalOfDemo(
  config,
  temporalAddress,
  createLog({ role: 'cluster', ...logOptionsOf(config) }),
  say,
);
temporal.start();

const rows = [
  ...(Object.keys(HOSTS) as HostName[]).map((name) => [name, `${hostOf(network, name)}:${portOf(name)}`]),
  ['haproxy', `http://localhost:${ports.haproxy}`],
  ['prometheus', `http://localhost:${ports.prometheus}`],
] as const;
say('\nEach part has an address of its own; of the roles, that of health and metrics:\n');
for (const [name, address] of rows) {
  say(`  ${name.padEnd(16)} ${address.padEnd(24)} process ${cluster.part(name).pid}`);
}
say(`
Logs: ${shown}/logs

Kill a domain and an edge; reading goes on:

  kill -9 ${cluster.part('domain-1').pid} ${cluster.part('edge-2').pid}

In the other terminals, type this before the lines below:

  export DATA_DIR=${shown}`);
welcome(config, say);

await stopped;
say('\nStopping everything...');
await temporal.stop();
await cluster.stop();
process.exit(0);

function portOf(name: HostName): number {
  if (name === 'pgbouncer') {
    return PORTS.pgbouncer;
  }
  return name === 'primary' || name === 'replica' ? PORTS.postgres : PORTS.metrics;
}
