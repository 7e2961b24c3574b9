import { get } from 'node:http';
import { createServer } from 'node:net';
import type { Config } from '../../../config/config.js';
import { foundIn } from '../../../store/checks/check.js';
import { isListening } from '../../is-listening.js';
import { socketPathOf } from '../../unix-socket.js';
import { type DoctorCheck, Skipped } from './check.js';

const ANSWER_LIMIT_MS = 5_000;
const FAULTS: Record<string, string> = {
  EACCES: 'needs permissions that this user lacks',
  EADDRNOTAVAIL: 'is not an address of this machine',
};

interface Port {
  setting: string;
  host: string;
  port: number;
  isOurs(port: Port, config: Config): Promise<boolean>;
}

export const portsAreFree: DoctorCheck = {
  name: 'ports',
  about: 'Each port is free, or the service listens there.',
  severity: 'error',
  remedy: 'Set another port or address, or stop the other program (`ss -ltnp` shows it).',
  find: async ({ config }) => {
    const ports = portsOf(config).filter(({ port }) => port !== 0);
    const states = await Promise.all(ports.map((port) => stateOf(port, config)));
    const problems = states.flatMap((state, index) => {
      const { setting, host, port } = ports[index] as Port;
      return ['free', 'ours'].includes(state) ? [] : [`${host}:${port} (${setting}) ${state}`];
    });
    const served = states.filter((state) => state === 'ours').length;
    const free = problems.length === 0 ? 'All are free.' : undefined;
    return foundIn(problems, served === 0 ? free : `The service listens on ${served}.`);
  },
};

export const serviceIsReady: DoctorCheck = {
  name: 'readiness',
  about: 'The running service is ready.',
  severity: 'warning',
  remedy: 'See the log of the role and the page “Health and restarts”.',
  find: async ({ config: { METRICS_HOST: host, METRICS_PORT: port, TEMPORAL_ADDRESS } }) => {
    const answer = await answerOf(host, port, '/readyz');
    if (answer === undefined) {
      throw new Skipped('the service does not run here');
    }
    const readiness = JSON.parse(answer.body) as Readiness;
    const problems = readiness.status === 'ready' ? [] : failing(readiness);
    // Without Temporal a node is always degraded.
    const unexpected = problems.filter((problem) => TEMPORAL_ADDRESS || !TEMPORAL_CHECK.test(problem));
    return foundIn(unexpected, `It is ${readiness.status}.`);
  },
};

/** Of a worker under a supervisor, or by itself. */
const TEMPORAL_CHECK = /^(?:worker|the service): temporal: /;
/** More than any answer of ours to these questions. */
const MOST_CHARACTERS = 65_536;

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

function portsOf(config: Config): Port[] {
  const { LISTEN_HOST, GRPC_HOST, METRICS_HOST, ENVIRONMENT } = config;
  const rolesAt = config.ROLES_ADDRESS?.lastIndexOf(':') ?? -1;
  return [
    { setting: 'SIGN_ON_PORT', host: LISTEN_HOST, port: config.SIGN_ON_PORT, isOurs: hasRequestId },
    { setting: 'GATEWAY_PORT', host: LISTEN_HOST, port: config.GATEWAY_PORT, isOurs: hasRequestId },
    { setting: 'METRICS_PORT', host: METRICS_HOST, port: config.METRICS_PORT, isOurs: tellsLife },
    { setting: 'GRPC_PORT', host: GRPC_HOST, port: config.GRPC_PORT, isOurs: domainRuns },
    ...(config.ROLES_ADDRESS === undefined
      ? []
      : [
          {
            setting: 'ROLES_ADDRESS',
            host: config.ROLES_ADDRESS.slice(0, rolesAt).replace(/^\[|\]$/g, ''),
            port: Number(config.ROLES_ADDRESS.slice(rolesAt + 1)),
            isOurs: domainRuns,
          },
        ]),
    ...(ENVIRONMENT === 'demo'
      ? [{ setting: 'DEMO_APP_PORT', host: '127.0.0.1', port: config.DEMO_APP_PORT, isOurs: hasRequestId }]
      : []),
  ];
}

async function stateOf(port: Port, config: Config): Promise<string> {
  if (await isListening({ host: dialled(port.host), port: port.port })) {
    return (await port.isOurs(port, config)) ? 'ours' : 'is taken by another program';
  }
  return listening(port);
}

/** Listens on a free port of the address: the service may be about to use the port itself. */
function listening({ host }: Port): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code = '', message }: NodeJS.ErrnoException) =>
      resolve(FAULTS[code] ?? `cannot be used: ${message}`),
    );
    server.listen({ host, port: 0, exclusive: true }, () => server.close(() => resolve('free')));
  });
}

/** The edge sends a request id with every answer. */
async function hasRequestId({ host, port }: Port): Promise<boolean> {
  return (await answerOf(host, port, '/'))?.hasRequestId === true;
}

async function tellsLife({ host, port }: Port): Promise<boolean> {
  const answer = await answerOf(host, port, '/livez');
  return answer?.body.includes('"status"') === true;
}

/** A gRPC port with TLS does not show which program listens: looks for the domain at other addresses. */
async function domainRuns(_: Port, { DOMAIN_ADDRESS, ...config }: Config): Promise<boolean> {
  const path = socketPathOf(DOMAIN_ADDRESS);
  return path === undefined
    ? (await answerOf(config.METRICS_HOST, config.METRICS_PORT, '/livez')) !== undefined
    : isListening({ path });
}

interface Answer {
  body: string;
  hasRequestId: boolean;
}

function answerOf(host: string, port: number, path: string): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const request = get(
      { host: dialled(host), port, path, signal: AbortSignal.timeout(ANSWER_LIMIT_MS), agent: false },
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

/** For an address that means all interfaces: the loopback address to connect to. */
function dialled(host: string): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
}
