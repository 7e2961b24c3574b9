import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiKeyStore } from '../domain/access/api-key-store.js';
import type { ServiceTokenStore } from '../domain/access/service-tokens.js';
import type { DemoStore } from '../domain/demo/seed.js';
import type { InstanceIntegrationStore } from '../domain/directory/instance-integrations.js';
import type { PurgeStore } from '../domain/maintenance/purge.js';
import { apiKeyStore } from './adapters/api-keys.js';
import { demoStore } from './adapters/demo.js';
import { instanceIntegrationStore } from './adapters/instance-integrations.js';
import { purgeStore } from './adapters/purge.js';
import { serviceTokenStore } from './adapters/service-tokens.js';
import type { Database } from './database.js';
import { openPostgres } from './dialects/postgres.js';
import { openSqlite } from './dialects/sqlite.js';
import { migrateToLatest } from './migrate.js';
import { StoreError } from './store-error.js';

export interface StoreOptions {
  environment: 'live' | 'demo';
  /** Where SQLite keeps its file; made when missing, for nobody else to read. */
  dataDir: string;
  /** PostgreSQL instead. */
  databaseUrl?: string;
  onIdleError?: (error: Error) => void;
}

/** Every port of the domain over one database. */
export interface Store {
  readonly apiKeys: ApiKeyStore;
  readonly serviceTokens: ServiceTokenStore;
  readonly instanceIntegrations: InstanceIntegrationStore;
  readonly purge: PurgeStore;
  readonly demo: DemoStore;
  /** Whether the database answers now; throws when not. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const DATABASE_FILE = 'integration.db';

export async function openStore(options: StoreOptions): Promise<Store> {
  const database = await connect(options);
  try {
    await refuseForeign(database, options.environment);
    await migrateToLatest(database.migrator);
    await claimEnvironment(database, options.environment);
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    apiKeys: apiKeyStore(database),
    serviceTokens: serviceTokenStore(database),
    instanceIntegrations: instanceIntegrationStore(database),
    purge: purgeStore(database),
    demo: demoStore(database),
    ping: async () => {
      await database.reader.selectFrom('environment').select('name').executeTakeFirstOrThrow();
    },
    close: () => database.close(),
  };
}

async function connect({
  dataDir,
  databaseUrl,
  onIdleError = () => undefined,
}: StoreOptions): Promise<Database> {
  if (databaseUrl !== undefined) {
    return openPostgres(databaseUrl, onIdleError);
  }
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StoreError(`The data directory ${dataDir} cannot be written: ${(error as Error).message}.`);
  }
  return openSqlite(join(dataDir, DATABASE_FILE));
}

/** Before anything is migrated: a database that belongs to the other environment is left as it is. */
async function refuseForeign({ migrator }: Database, environment: 'live' | 'demo'): Promise<void> {
  const tables = await migrator.introspection.getTables();
  if (tables.some(({ name }) => name === 'environment')) {
    const row = await migrator.selectFrom('environment').select('name').executeTakeFirst();
    refuseUnless(row?.name ?? environment, environment);
  }
}

function refuseUnless(owner: 'live' | 'demo', environment: 'live' | 'demo'): void {
  if (owner !== environment) {
    throw new StoreError(`The database belongs to the ${owner} environment, and this is ${environment}.`);
  }
}

/** A database belongs to the environment that first used it, so that demo never opens live data, nor live the demo's. */
async function claimEnvironment(database: Database, environment: 'live' | 'demo'): Promise<void> {
  const owner = await database.write(async (writer) => {
    await writer
      .insertInto('environment')
      .values({ only_row: 1, name: environment, created_at: Date.now() })
      .onConflict((conflict) => conflict.column('only_row').doNothing())
      .execute();
    return (await writer.selectFrom('environment').select('name').executeTakeFirstOrThrow()).name;
  });
  refuseUnless(owner, environment);
}
