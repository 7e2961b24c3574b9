import { join } from 'node:path';
import { RpcChannel } from '../../../src/rpc/client.js';
import type { DevServer } from '../../../workflows/dev-server/start.js';
import { BEHIND_PROXY } from '../../attacks/attacked-service.js';
import { newPostgresDatabase } from '../../support/databases.js';
import { freePorts } from '../../support/free-ports.js';
import type { serviceProcesses } from '../../support/service-process.js';
import { stallingProxy } from '../../support/stalling-proxy.js';
import { WebhookSubscribers } from '../../support/webhooks/subscribers.js';
import { startServer } from '../../workflows/temporal-fixture.js';
import { startTwoDomains, type TwoDomains, untilServing } from '../calls/two-domains.js';

export const LINKS = [
  'edge to domain 1',
  'edge to domain 2',
  'worker to domain 1',
  'worker to domain 2',
  'domain 1 to PostgreSQL',
  'domain 2 to PostgreSQL',
  'worker to receivers',
  'worker to Temporal',
] as const;

export type LinkName = (typeof LINKS)[number];

export type Way = Awaited<ReturnType<typeof stallingProxy>>;

/** Two domains on one PostgreSQL, an edge, a worker and receivers; between any two of them is a proxy. */
export interface LinkedService {
  nodes: TwoDomains;
  /** A proxy for each address of a link. Without Temporal, its link is absent. */
  ways: ReadonlyMap<LinkName, readonly Way[]>;
  receivers: WebhookSubscribers;
  /** As the worker reaches them. */
  receiverUrls: readonly string[];
  /** The database, without a proxy. */
  databaseUrl: string;
  /** To the gRPC port of each domain. */
  platforms: readonly [RpcChannel, RpcChannel];
  operator: RpcChannel;
  stop(): Promise<void>;
}

export interface LinkedServiceSettings {
  /** The executable, if there is one. */
  temporal: string | undefined;
  receivers: number;
  retryDelays: string;
  timeoutMs: number;
}

export async function startLinkedService(
  services: ReturnType<typeof serviceProcesses>,
  { temporal, receivers: count, retryDelays, timeoutMs }: LinkedServiceSettings,
): Promise<LinkedService> {
  const ends: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) {
      await end();
    }
  };
  try {
    const ways = new Map<LinkName, Way[]>();
    const newWay = async (link: LinkName, url: string): Promise<Way> => {
      const way = await stallingProxy(url);
      ends.push(way.close);
      ways.set(link, [...(ways.get(link) ?? []), way]);
      return way;
    };
    const directory = services.newDirectory();
    const { url, drop } = await newPostgresDatabase();
    ends.push(drop);
    const receivers = await WebhookSubscribers.start(count, join(directory, 'records.jsonl'));
    ends.push(() => receivers.stop());
    const receiverUrls: string[] = [];
    for (let index = 0; index < count; index += 1) {
      receiverUrls.push((await newWay('worker to receivers', receivers.urlOf(index))).url);
    }
    const workerEnv: Record<string, string> = {};
    if (temporal !== undefined) {
      const server: DevServer = await startServer(temporal, { namespace: 'demo' });
      ends.push(() => server.stop());
      workerEnv.TEMPORAL_ADDRESS = (await newWay('worker to Temporal', `tcp://${server.address}`)).address;
    }
    const addresses = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
    const domainsOf = async (role: 'edge' | 'worker') => {
      const [one, two] = addresses;
      const first = await newWay(`${role} to domain 1`, `tcp://${one}`);
      const second = await newWay(`${role} to domain 2`, `tcp://${two}`);
      return { DOMAIN_ADDRESS: `${first.address},${second.address}` };
    };
    const nodes = await startTwoDomains(services, url, {
      databaseUrls: [
        (await newWay('domain 1 to PostgreSQL', url)).url,
        (await newWay('domain 2 to PostgreSQL', url)).url,
      ],
      env: {
        ...BEHIND_PROXY.env,
        WEBHOOK_RETRY_DELAYS: retryDelays,
        WEBHOOK_TIMEOUT: `${timeoutMs}ms`,
      },
      domainEnvs: [{ ROLES_ADDRESS: addresses[0] }, { ROLES_ADDRESS: addresses[1] }],
      edgeEnv: await domainsOf('edge'),
      workerEnv: { ...workerEnv, ...(await domainsOf('worker')) },
    });
    await untilServing(nodes.edge, ...nodes.domains);
    await untilServing(nodes.worker, ...nodes.domains);
    const [first, second] = nodes.domains.map(({ process }) => `127.0.0.1:${process.settings.GRPC_PORT}`);
    const { platformToken, operatorToken } = nodes.domains[0].process.demo();
    const channelTo = (address = '', token: string) => {
      const channel = new RpcChannel(address, token);
      ends.push(() => channel.close());
      return channel;
    };
    return {
      nodes,
      ways,
      receivers,
      receiverUrls,
      databaseUrl: url,
      platforms: [channelTo(first, platformToken), channelTo(second, platformToken)],
      operator: channelTo(first, operatorToken),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
