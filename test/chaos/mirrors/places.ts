import { join } from 'node:path';
import { PlatformServiceService } from '../../../generated/proto/integration/platform/v1/platform.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import type { Database } from '../../../src/store/database.js';
import { openPostgres } from '../../../src/store/dialects/postgres/postgres.js';
import { openSqlite } from '../../../src/store/dialects/sqlite.js';
import { connectionIds } from '../../flow/webhooks/webhook-environment.js';
import type { Wish } from '../../support/changes/random-writes.js';
import { newPostgresDatabase, PATIENT } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import type { ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import { type DomainNode, startTwoDomains } from '../calls/two-domains.js';
import type { Reader } from './gateway-lists.js';

type Services = ReturnType<typeof serviceProcesses>;

/** A running service with its processes to kill. */
export interface Place {
  reader: Reader;
  /** Its database, for what no API does. */
  database: Database;
  /** A domain each: writers choose one. */
  platforms: readonly Platform[];
  /** Kills a process; settles when another one is in its place. */
  kills: Readonly<Record<string, () => Promise<void>>>;
  close(): Promise<void>;
}

/** Longer than a write waits for the locks of others. */
const DEADLINE_MS = 15_000;
const LOST = new Set([ErrorCode.UNAVAILABLE, ErrorCode.INTERNAL_ERROR]);

/** All roles below one parent, on SQLite. */
export async function servedOnSqlite(services: Services): Promise<Place> {
  const service = await services.start({ env: { GATEWAY_RATE_LIMIT: '999999999/1h' } });
  const database = openSqlite(join(service.dataDir, 'integration.db'));
  const platform = new Platform(() => service, service.demo().platformToken);
  const kill = (role: 'domain' | 'edge') => async () => {
    const pid = service.pidOf(role);
    process.kill(pid, 'SIGKILL');
    await eventually(`the ${role} back`, () => service.pidOf(role) !== pid);
  };
  return {
    reader: readerOf(service, service),
    database,
    platforms: [platform],
    kills: { domain: kill('domain'), edge: kill('edge') },
    close: async () => {
      platform.close();
      await database.close();
    },
  };
}

/** Two domains behind an edge, on PostgreSQL. */
export async function servedOnPostgres(services: Services): Promise<Place> {
  const { url, drop } = await newPostgresDatabase();
  const nodes = await startTwoDomains(services, url);
  const database = await openPostgres(url, () => undefined, PATIENT);
  const token = nodes.domains[0].process.demo().platformToken;
  const platforms = nodes.domains.map((node) => new Platform(() => node.process, token));
  const end = async (process: ServiceProcess) => {
    process.signal('SIGKILL');
    await process.exited;
  };
  const kill = (node: DomainNode) => async () => {
    await end(node.process);
    await node.start();
  };
  return {
    reader: readerOf(nodes.edge, nodes.domains[0].process),
    database,
    platforms,
    kills: {
      'domain one': kill(nodes.domains[0]),
      'domain two': kill(nodes.domains[1]),
      edge: async () => {
        await end(nodes.edge);
        await nodes.startEdge();
      },
    },
    close: async () => {
      for (const platform of platforms) {
        platform.close();
      }
      await database.close();
      await drop();
    },
  };
}

function readerOf({ gatewayUrl }: ServiceProcess, domain: ServiceProcess): Reader {
  const instanceIntegrationId = connectionIds.harborlight;
  const key = domain
    .demo()
    .apiKeys.find(({ instanceIntegrationIds }) => instanceIntegrationIds.includes(instanceIntegrationId));
  return { gatewayUrl, apiKey: key?.key ?? '', instanceIntegrationId };
}

/** The writes of the platform at one domain, across its kills. */
export class Platform {
  #channel: RpcChannel | undefined;
  #process: ServiceProcess | undefined;

  constructor(
    private readonly domain: () => ServiceProcess,
    private readonly token: string,
  ) {}

  /** Repeats it until it is answered; false when it is refused, as of a row that is gone meanwhile. */
  async write(wish: Wish, requestId: string): Promise<boolean> {
    let lost: unknown;
    const answer = eventually(`an answer to ${wish.name}`, async () => {
      try {
        const call = this.#client()[wish.operation as Exclude<Wish['operation'], 'activateUser'>];
        await call(wish.request as never, { requestId, deadlineMs: DEADLINE_MS });
        return { isDone: true };
      } catch (error) {
        if (!(error instanceof ServiceError)) {
          throw error;
        }
        lost = error;
        return LOST.has(error.code) ? undefined : { isDone: false };
      }
    });
    const { isDone } = await answer.catch((error: Error) => {
      throw new Error(`${error.message} The last reason: ${lost}`);
    });
    return isDone;
  }

  close(): void {
    this.#channel?.close();
  }

  /** A domain that was started again has another port. */
  #client() {
    const process = this.domain();
    if (process !== this.#process || this.#channel === undefined) {
      this.#channel?.close();
      this.#process = process;
      this.#channel = new RpcChannel(`127.0.0.1:${process.settings.GRPC_PORT}`, this.token);
    }
    return this.#channel.clientOf(PlatformServiceService);
  }
}
