import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../../src/config/package.js';
import { requireToolchain } from '../support/programs.js';
import { hostOf, PORTS, type PublicPorts, USUAL_NETWORK, USUAL_PORTS } from './addresses.js';
import { type PartOptions, writeSecret } from './parts.js';
import { answers } from './postgres.js';

const UP_LIMIT_MS = 150_000;
const LOOK_EVERY_MS = 100;

const deploy = join(packageRoot, 'deploy');

export interface PeerPlace {
  network: string;
  ports: PublicPorts;
  folder: string;
  logs: string;
}

/** In transaction mode in front of the primary, with the role of the service as its only user. */
export function pgbouncer({ network, folder, logs }: PeerPlace, url: string): PartOptions {
  const { username, password } = new URL(url);
  const users = writeSecret(join(folder, 'userlist.txt'), `"${username}" "${password}"\n`);
  const shipped = shippedFile('pgbouncer.ini')
    .replace('host=127.0.0.1 port=5432', `host=${hostOf(network, 'primary')} port=${PORTS.postgres}`)
    .replace('listen_addr = 127.0.0.1', `listen_addr = ${hostOf(network, 'pgbouncer')}`)
    .replace('/etc/pgbouncer/userlist.txt', users);
  return {
    name: 'pgbouncer',
    command: requireToolchain('pgbouncer'),
    args: [written(folder, 'pgbouncer.ini', shipped)],
    logFile: join(logs, 'pgbouncer.log'),
    neverAsRoot: true,
    serves: () => answers(url),
  };
}

/** In front of the edges, of Temporal and, for gRPC, of the domains. */
export function haproxy({ network, ports, folder, logs }: PeerPlace): PartOptions {
  const binds = {
    [USUAL_PORTS.signOn]: ports.signOn,
    [USUAL_PORTS.gateway]: ports.gateway,
    [USUAL_PORTS.grpc]: ports.grpc,
    [USUAL_PORTS.temporal]: ports.temporal,
    [USUAL_PORTS.haproxy]: ports.haproxy,
  };
  const shipped = onNetwork(shippedFile('haproxy.cfg'), network)
    .replaceAll(/bind [\d.]+:(\d+)/g, (_, port) => `bind 127.0.0.1:${binds[port]}`)
    // All parts share one machine: what is alive may accept and answer late.
    .replace('timeout connect 2s', 'timeout connect 10s')
    .replace('timeout check 4s', 'timeout check 10s');
  const file = written(folder, 'haproxy.cfg', shipped);
  return {
    name: 'haproxy',
    command: requireToolchain('haproxy'),
    args: ['-db', '-f', file],
    logFile: join(logs, 'haproxy.log'),
    serves: async () => (await haproxyState(ports)).includes('haproxy,FRONTEND,'),
  };
}

/** Settles when HAProxy sends requests to all that match. */
export async function untilHaproxyKnows(
  ports: PublicPorts,
  count: number,
  servers: RegExp,
  signal?: AbortSignal,
): Promise<void> {
  const isUp = (line: string) => servers.test(line) && /,UP,/.test(line);
  const deadline = performance.now() + UP_LIMIT_MS;
  while ((await haproxyState(ports)).split('\n').filter(isUp).length < count) {
    signal?.throwIfAborted();
    if (performance.now() > deadline) {
      throw new Error(`HAProxy did not see ${count} servers of ${servers} within ${UP_LIMIT_MS / 1_000} s.`);
    }
    await pause(LOOK_EVERY_MS);
  }
}

/** Comma-separated values, a line for each server. */
export async function haproxyState(ports: PublicPorts): Promise<string> {
  return (await fetch(`http://127.0.0.1:${ports.haproxy}/;csv`)).text();
}

/** With the rules of `deploy/prometheus`. */
export function prometheus({ network, ports, folder, logs }: PeerPlace): PartOptions {
  const shipped = onNetwork(shippedFile('prometheus.yml'), network)
    .replaceAll('../prometheus/', join(deploy, 'prometheus/'))
    .replace(/[\d.]+:8404/, `127.0.0.1:${ports.haproxy}`)
    .replaceAll('_interval: 15s', '_interval: 1s');
  const file = written(folder, 'prometheus.yml', shipped);
  const address = `127.0.0.1:${ports.prometheus}`;
  return {
    name: 'prometheus',
    command: requireToolchain('prometheus'),
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ],
    logFile: join(logs, 'prometheus.log'),
    serves: async () => (await fetch(`http://${address}/-/ready`)).ok,
  };
}

export function shippedFile(name: string): string {
  return readFileSync(join(deploy, 'cluster', name), 'utf8');
}

function onNetwork(text: string, network: string): string {
  return text.replaceAll(`${USUAL_NETWORK}.`, `${network}.`);
}

function written(folder: string, name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
