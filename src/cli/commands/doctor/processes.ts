import { get, type RequestOptions } from 'node:http';
import type { Config } from '../../../config/config.js';
import { type Address, type Presence, realDataDir } from '../../ports.js';
import { ROLE_NAMES } from '../../roles/role.js';
import { isListening, opsSocketOf, runDirOf, socketPathOf } from '../../sockets.js';
import { jsonIn } from '../json.js';

const ANSWER_LIMIT_MS = 5_000;
/** More than any answer of ours to these questions. */
const MOST_CHARACTERS = 65_536;

/** The running processes of this environment. */
export interface OwnProcesses {
  ports: readonly Address[];
  /** Roles run by themselves: others may answer /livez on ports that these settings do not name. */
  arePartial: boolean;
}

/** A process in the data directory is ours; one at METRICS_PORT is if it has the same data directory. */
export async function ownProcesses(config: Config): Promise<OwnProcesses> {
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
export async function ownLivez(config: Config): Promise<Partial<Presence> | undefined> {
  const livez = await livezAt(requestTo({ host: config.METRICS_HOST, port: config.METRICS_PORT }));
  return livez?.dataDir === realDataDir(config) ? livez : undefined;
}

/** Undefined where no process of this service answers. */
export async function livezAt(to: RequestOptions): Promise<Partial<Presence> | undefined> {
  const answer = await answerOf(to, '/livez');
  const livez = jsonIn(answer?.body ?? '') as (Partial<Presence> & { status?: unknown }) | null | undefined;
  return typeof livez?.status === 'string' ? livez : undefined;
}

/** For an address that means all interfaces, the loopback address. */
export function requestTo({ host, port }: Address): RequestOptions & Address {
  return { host: host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host, port };
}

interface Answer {
  body: string;
  /** The edge sends it with every answer. */
  hasRequestId: boolean;
}

export function answerOf(to: RequestOptions, path: string): Promise<Answer | undefined> {
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
