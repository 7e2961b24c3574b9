import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Client } from '@temporalio/client';
import type { ActivityDependencies } from '../../workflows/activities/index.js';
import type { DevServer } from '../../workflows/dev-server/start.js';
import {
  startTemporalWorker,
  type TemporalWorker,
  type Work,
  type WorkerOptions,
} from '../../workflows/worker.js';
import {
  activitiesOf,
  connectClient,
  farAway,
  NAMESPACE,
  silentLog,
  startServer,
  wholeDomain,
  writeBundle,
} from './temporal-fixture.js';

type RigOptions = Partial<Omit<WorkerOptions, 'work'> & Omit<Work, 'activities'>>;

/**
 * One server for a describe block. Most tests share a worker, because a server notices another one only after
 * seconds; tests of the worker itself have their own.
 */
export function temporalRig(executable: string) {
  let server: DevServer;
  let client: Client;
  let bundlePath: string;
  let current: ActivityDependencies;
  let shared: TemporalWorker | undefined;
  const own: TemporalWorker[] = [];
  const endAll = async () => {
    await Promise.all([shared, ...own.splice(0)].map((worker) => worker?.shutdown()));
    shared = undefined;
  };

  beforeAll(async () => {
    [server, bundlePath] = await Promise.all([startServer(executable), writeBundle()]);
    client = await connectClient(server.address);
  });
  afterEach(async () => {
    if (own.length > 0) {
      await endAll();
    }
  });
  afterAll(async () => {
    await endAll();
    await client?.connection.close();
    await server?.stop();
  });

  const start = (
    domain: Partial<ActivityDependencies>,
    { schedules = farAway, companions = [], ...options }: RigOptions = {},
  ) =>
    startTemporalWorker({
      address: server.address,
      namespace: NAMESPACE,
      work: async () => ({ activities: activitiesOf(domain), schedules, companions }),
      log: silentLog,
      shutdownGraceMs: 2_000,
      bundlePath,
      ...options,
    });

  /** From here on the shared worker asks this domain. */
  async function work(domain: Partial<ActivityDependencies>): Promise<void> {
    current = wholeDomain(domain);
    shared ??= await start(delegating(() => current));
  }

  /** A worker of this test alone, in place of the shared one. */
  async function workAlone(domain: Partial<ActivityDependencies>, options?: RigOptions) {
    if (own.length === 0) {
      await endAll();
    }
    const worker = await start(domain, options);
    own.push(worker);
    return worker;
  }

  return { client: () => client, address: () => server.address, work, workAlone };
}

function delegating(current: () => ActivityDependencies): ActivityDependencies {
  const maintenance = () => current().maintenance;
  const retries = () => current().webhookRetries;
  return {
    maintenance: {
      purgeExpired: (...request) => maintenance().purgeExpired(...request),
      expireAuthorizationCodes: (...request) => maintenance().expireAuthorizationCodes(...request),
      advanceSigningKeys: (...request) => maintenance().advanceSigningKeys(...request),
    },
    webhookRetries: {
      retryBatch: (...request) => retries().retryBatch(...request),
      makeDue: (...request) => retries().makeDue(...request),
      giveUp: (...request) => retries().giveUp(...request),
    },
  };
}
