import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.js';
import { freePorts } from '../../support/free-ports.js';
import { roleTokens } from '../../support/role-tokens.js';
import type { ServiceProcess, StartOptions, serviceProcesses } from '../../support/service-process.js';

/** A domain waits 25 s for an answer of PostgreSQL, and the machine may have much else to do. */
const LIMIT_MS = 90_000;

/** A process that can be started again where it was. */
export interface ServiceNode {
  process: ServiceProcess;
  /** With the entry of another build if given. */
  start(main?: string): Promise<void>;
}

export interface DomainNode extends ServiceNode {
  address: string;
}

export interface TwoDomains {
  domains: readonly [DomainNode, DomainNode];
  readonly edge: ServiceProcess;
  /** Another one in the place of the present one, which has ended. */
  startEdge(): Promise<void>;
  readonly firstEdge: ServiceNode;
  /** One more, on ports of its own. */
  newEdge(): Promise<ServiceNode>;
  readonly worker: ServiceProcess;
  readonly workerNode: ServiceNode;
}

export interface TwoDomainsOptions {
  /** Of each domain, where it has its own way to the database. */
  databaseUrls?: readonly [string, string];
  env?: StartOptions['env'];
  domainEnvs?: readonly [StartOptions['env'], StartOptions['env']];
  edgeEnv?: StartOptions['env'];
  workerEnv?: StartOptions['env'];
}

/** Two domains on one database, an edge and a worker that know both; each is a process of its own. */
export async function startTwoDomains(
  services: ReturnType<typeof serviceProcesses>,
  databaseUrl: string,
  {
    databaseUrls = [databaseUrl, databaseUrl],
    env: more = {},
    domainEnvs = [{}, {}],
    edgeEnv,
    workerEnv,
  }: TwoDomainsOptions = {},
): Promise<TwoDomains> {
  const directory = services.newDirectory();
  const [signOn, gateway, demoApp, edgeMetrics, ...ports] = await freePorts(6);
  const shared = {
    ...roleTokens,
    SECRETS_KEY_FILE: join(directory, 'keys', 'secrets.key'),
    SIGN_ON_PORT: String(signOn),
    GATEWAY_PORT: String(gateway),
    DEMO_APP_PORT: String(demoApp),
    GATEWAY_RATE_LIMIT: '999999999/1h',
    TEMPORAL_ADDRESS: undefined,
    ...more,
  };
  const node = async (name: string, index: 0 | 1): Promise<DomainNode> => {
    const address = `127.0.0.1:${ports[index]}`;
    const dataDir = join(directory, name);
    const env = {
      ...{ ...shared, DATABASE_URL: databaseUrls[index], ROLES_ADDRESS: address },
      ...domainEnvs[index],
    };
    const start = (main?: string) =>
      services.start({
        ...{ command: 'domain', dataDir, env },
        ...(main !== undefined && { main }),
      });
    return Object.assign(await started(start), { address });
  };
  const first = await node('one', 0);
  // The credentials of the demo are in the database once.
  mkdirSync(join(directory, 'two'));
  copyFileSync(first.process.demoFile, join(directory, 'two', 'demo.json'));
  const second = await node('two', 1);
  const env = { ...shared, DOMAIN_ADDRESS: `${first.address},${second.address}` };
  const edgeAt = (at: StartOptions['env']) =>
    started((main) =>
      services.start({
        ...{ command: 'edge', env: { ...env, ...edgeEnv, ...at } },
        ...(main !== undefined && { main }),
      }),
    );
  const firstEdge = await edgeAt({ METRICS_PORT: String(edgeMetrics) });
  const workerNode = await started((main) =>
    services.start({
      ...{ command: 'worker', env: { ...env, ...workerEnv } },
      ...(main !== undefined && { main }),
    }),
  );
  return {
    domains: [first, second],
    get edge() {
      return firstEdge.process;
    },
    startEdge: () => firstEdge.start(),
    firstEdge,
    newEdge: async () => {
      const names = ['SIGN_ON_PORT', 'GATEWAY_PORT', 'METRICS_PORT', 'DEMO_APP_PORT'];
      const ports = await freePorts(names.length);
      return edgeAt(Object.fromEntries(names.map((name, index) => [name, String(ports[index])])));
    },
    get worker() {
      return workerNode.process;
    },
    workerNode,
  };
}

async function started(start: (main?: string) => Promise<ServiceProcess>): Promise<ServiceNode> {
  const node: ServiceNode = {
    process: await start(),
    start: async (main) => {
      node.process = await start(main);
    },
  };
  return node;
}

/** By the metrics of edge or worker, for each of its tokens. */
export async function untilServing(role: ServiceProcess, ...domains: readonly DomainNode[]): Promise<void> {
  const areServing = async () => {
    const counts = await statesIn(role);
    return (
      counts.length > 0 && counts.every(({ state, count }) => state === 'serving' && count === domains.length)
    );
  };
  await eventually('both serve', areServing, LIMIT_MS);
}

/** Of the two, one serves. */
export async function untilKnownAway(role: ServiceProcess, { address }: DomainNode): Promise<void> {
  const isAway = async () => {
    const counts = await statesIn(role);
    const serving = counts.filter(({ state }) => state === 'serving');
    return counts.length > serving.length && serving.every(({ count }) => count === 1);
  };
  await eventually(`${address} is away`, isAway, LIMIT_MS);
}

export async function statesIn({ opsUrl }: ServiceProcess) {
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
  return [...metrics.matchAll(/^domains_known\{([^}]*)\} (\d+)$/gm)].map(([, labels = '', count]) => ({
    state: /state="([^"]*)"/.exec(labels)?.[1],
    count: Number(count),
  }));
}
