import { get, type RequestOptions } from 'node:http';
import { createServer } from 'node:net';
import { type Config, overlap } from '../../../config/config.js';
import { addressOf } from '../../../identifiers/network-address.js';
import { foundIn } from '../../../store/checks/check.js';
import { type Address, type Port, type Presence, portsOf, realDataDir } from '../../ports.js';
import { ROLE_NAMES } from '../../roles/role.js';
import { isListening, opsSocketOf, runDirOf, socketPathOf } from '../../sockets.js';
import { jsonIn } from '../json.js';
import { type DoctorCheck, skipUnless } from './check.js';

const TAKEN = 'is taken by another process';
const FAULTS: Record<string, string> = {
  EACCES: 'needs permissions that this user lacks',
  EADDRINUSE: TAKEN,
  EADDRNOTAVAIL: 'is not an address of this machine',
};
const ANSWER_LIMIT_MS = 5_000;
/** More than any answer of ours to these questions. */
const MOST_CHARACTERS = 65_536;
const ANY_ADDRESS = ['0.0.0.0', '::'];
const FIRST_UNPRIVILEGED_PORT = 1_024;
const ANOTHER_ENVIRONMENT = 'is taken by another environment of this service';

export const portsAreFree: DoctorCheck = {
  name: 'ports',
  about: 'Each port is free, or the service of this environment listens there.',
  severity: 'error',
  remedy:
    'Set another port or address, or stop the other process (`ss -ltnp` shows it). Environments on one machine need ports of their own. To check the demo, set ENVIRONMENT=demo.',
  find: async ({ config }) => {
    const ports = portsOf(config).filter(({ port }) => port !== 0);
    const own = await ownProcesses(config);
    const states = await Promise.all(
      ports.map(async (port) => ({ ...port, state: await stateOf(port, own) })),
    );
    const settingsOf = (wanted: string) =>
      states.flatMap(({ setting, state }) => (state === wanted ? [setting] : []));
    const problems = states.filter(({ state }) => !['free', 'ours', 'unknown'].includes(state));
    const [served, unknown] = [settingsOf('ours').length, settingsOf('unknown')];
    const free = problems.length + unknown.length === 0 ? 'All are free.' : '';
    const details = [
      served === 0 ? free : `The service listens on ${served}.`,
      unknown.length === 0
        ? ''
        : `Not judged: ${unknown.join(', ')}; a role that runs by itself may listen there, or another environment.`,
    ];
    return foundIn(
      problems.map(({ setting, state, ...at }) => `${addressOf(at)} (${setting}) ${state}`),
      details.filter(Boolean).join(' ') || undefined,
    );
  },
};

export const serviceIsReady: DoctorCheck = {
  name: 'readiness',
  about: 'The running service is ready.',
  severity: 'warning',
  remedy: 'See the log of the role and the page “Health and restarts”.',
  find: async ({ config }) => {
    const { METRICS_HOST: host, METRICS_PORT: port, TEMPORAL_ADDRESS } = config;
    const answer = (await ownLivez(config)) && (await answerOf(requestTo({ host, port }), '/readyz'));
    skipUnless(answer !== undefined, 'the service does not run here');
    const readiness = JSON.parse(answer.body) as Readiness;
    const problems = readiness.status === 'ready' ? [] : failing(readiness);
    // Without Temporal a node is always degraded.
    const unexpected = problems.filter((problem) => TEMPORAL_ADDRESS || !TEMPORAL_CHECK.test(problem));
    return foundIn(unexpected, `It is ${readiness.status}.`);
  },
};

/** Of a worker under a supervisor, or by itself. */
const TEMPORAL_CHECK = /^(?:worker|the service): temporal: /;
interface Readiness {
  status: string;
  checks?: Record<string, { ok: boolean; detail?: string }>;
  roles?: Record<string, Readiness>;
}

function failing({ status, checks = {}, roles = {} }: Readiness, of = 'the service'): string[] {
  const own = Object.entries(checks)
    .filter(([, { ok }]) => !ok)
    .map(([name, { detail }]) => `${of}: ${name}${detail ? `: ${detail}` : ''}`);
  const below = Object.entries(roles).flatMap(([role, each]) =>
    each.status === 'ready' ? [] : failing(each, role),
  );
  return own.length + below.length > 0 ? [...own, ...below] : [`${of} is ${status}`];
}

async function stateOf(port: Port, { ports, arePartial }: OwnProcesses): Promise<string> {
  const to = requestTo(port);
  const found = (await isListening({ host: to.host, port: to.port })) ? TAKEN : await listening(port);
  if (found !== TAKEN) {
    return found;
  }
  if (ports.some((own) => own.port === port.port && overlap(own.host, port.host))) {
    return 'ours';
  }
  // A port of gRPC with TLS does not show which program listens.
  if (port.opener === 'domain') {
    return arePartial ? 'unknown' : TAKEN;
  }
  const livez = await livezAt(to);
  if (livez?.dataDir !== undefined) {
    return `${ANOTHER_ENVIRONMENT}, with the data directory ${livez.dataDir}`;
  }
  if ((await answerOf(to, '/'))?.hasRequestId) {
    return arePartial ? 'unknown' : ANOTHER_ENVIRONMENT;
  }
  return TAKEN;
}

/**
 * Opens the port itself only where the address tells too little: a port below 1024, which may need rights, or
 * all addresses, one of which may be taken. While it is open, a service that starts cannot open it.
 */
function listening({ host, port }: Port): Promise<string> {
  const isTelling = port < FIRST_UNPRIVILEGED_PORT || ANY_ADDRESS.includes(host);
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code = '', message }: NodeJS.ErrnoException) =>
      resolve(FAULTS[code] ?? `cannot be used: ${message}`),
    );
    server.listen({ host, port: isTelling ? port : 0, exclusive: true }, () =>
      server.close(() => resolve('free')),
    );
  });
}

/** The running processes of this environment. */
interface OwnProcesses {
  ports: readonly Address[];
  /** Roles run by themselves: others may answer /livez on ports that these settings do not name. */
  arePartial: boolean;
}

/** A process in the data directory is ours; one at METRICS_PORT is if it has the same data directory. */
async function ownProcesses(config: Config): Promise<OwnProcesses> {
  const [atPort, ...inRunDir] = await Promise.all([
    ownLivez(config),
    ...ROLE_NAMES.map((role) => livezAt({ socketPath: opsSocketOf(runDirOf(config), role) })),
  ]);
  const isSupervised = inRunDir.some((livez) => livez !== undefined);
  return {
    ports: [atPort, ...inRunDir].flatMap((livez) => livez?.ports ?? []),
    arePartial: !isSupervised && (atPort !== undefined || (await hasDomain(config))),
  };
}

async function hasDomain({ DOMAIN_ADDRESS }: Config): Promise<boolean> {
  const path = socketPathOf(DOMAIN_ADDRESS);
  return path !== undefined && isListening({ path });
}

/** What /livez says at METRICS_PORT; undefined unless a process of this environment answers. */
async function ownLivez(config: Config): Promise<Partial<Presence> | undefined> {
  const livez = await livezAt(requestTo({ host: config.METRICS_HOST, port: config.METRICS_PORT }));
  return livez?.dataDir === realDataDir(config) ? livez : undefined;
}

/** Undefined where no process of this service answers. */
async function livezAt(to: RequestOptions): Promise<Partial<Presence> | undefined> {
  const answer = await answerOf(to, '/livez');
  const livez = jsonIn(answer?.body ?? '') as (Partial<Presence> & { status?: unknown }) | null | undefined;
  return typeof livez?.status === 'string' ? livez : undefined;
}

/** For an address that means all interfaces, the loopback address. */
function requestTo({ host, port }: Address): RequestOptions & Address {
  return { host: host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host, port };
}

interface Answer {
  body: string;
  /** The edge sends it with every answer. */
  hasRequestId: boolean;
}

function answerOf(to: RequestOptions, path: string): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const request = get(
      { ...to, path, signal: AbortSignal.timeout(ANSWER_LIMIT_MS), agent: false },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          body += chunk;
          if (body.length > MOST_CHARACTERS) {
            request.destroy();
          }
        });
        response.once('error', () => resolve(undefined));
        response.once('end', () => resolve({ body, hasRequestId: 'x-request-id' in response.headers }));
      },
    );
    request.once('error', () => resolve(undefined));
  });
}
