import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Gatekeeper } from '../../../src/domain/access/gatekeeper.js';
import { RateLimiter } from '../../../src/domain/access/rate-limiter.js';
import { type DemoCredentials, demoCredentials, demoSeed } from '../../../src/domain/demo/seed.js';
import { createGatewayApi } from '../../../src/edge/apis.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import { directoryService } from '../../../src/rpc/domain-server/directory.js';
import { createRpcServer } from '../../../src/rpc/server.js';
import type { Database } from '../../../src/store/database.js';
import { openSqlite } from '../../../src/store/dialects/sqlite.js';
import { openStore, type Store } from '../../../src/store/store.js';
import { cursors } from '../changes/cursors.js';
import { startListener } from '../edge-listener.js';
import { patientAdmission } from '../patient-admission.js';
import { type RecordedLog, recordedLog } from '../recorded-log.js';
import { newDataDirectory } from '../temporary-directory.js';
import { unheardAudit } from '../unheard-audit.js';

const SERVICE_TOKEN = 'token-of-the-service';
const NOBODY_COUNTS = { limit: 1_000_000, windowMs: 3_600_000 };

export interface RealGateway {
  /** Where it listens, which is its public address too. */
  url: string;
  port: number;
  /** A second listener over the same domain that takes keys of live. */
  livePort: number;
  credentials: DemoCredentials;
  store: Store;
  /** For what no port of the store does: rows that a test needs. */
  database: Database;
  /** What edge and domain wrote into their logs. */
  log: RecordedLog;
  stop(): Promise<void>;
}

/** The whole way of a read in this process, over a fresh SQLite with the demo's directory. */
export async function startRealGateway(): Promise<RealGateway> {
  const dataDir = newDataDirectory();
  const log = recordedLog();
  const store = await openStore({ environment: 'demo', dataDir });
  const credentials = demoCredentials(demoSeed);
  await store.demo.seed(demoSeed, credentials);
  const limiter = new RateLimiter(NOBODY_COUNTS, Date.now);
  const gatekeeper = new Gatekeeper(
    store.visits,
    limiter,
    Date.now,
    (error) => log.log.warn('last use', { reason: (error as Error).message }),
    () => undefined,
  );
  const server = createRpcServer({
    services: [directoryService({ gatekeeper, cursors, ...store })],
    authenticate: () => ({ caller: 'edge' }),
    log: log.log,
    timer: () => undefined,
    audit: unheardAudit,
  });
  const address = `unix:${join(dataDir, 's')}`;
  await server.listen(address);
  const domain = new RpcChannel(address, SERVICE_TOKEN);
  const listening = (environment: 'demo' | 'live') =>
    startListener({ api: 'gateway', log: log.log }, (gatewayUrl) =>
      createGatewayApi({ environment, gatewayUrl, domain, log: log.log, admission: patientAdmission() }),
    );
  const listeners = [await listening('demo'), await listening('live')] as const;
  const [{ port }, { port: livePort }] = listeners;
  const database = openSqlite(join(dataDir, 'integration.db'));
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    livePort,
    credentials,
    store,
    database,
    log,
    stop: async () => {
      await Promise.all(listeners.map(({ stop }) => stop()));
      domain.close();
      server.forceShutdown();
      await store.close();
      await database.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
