import type BetterSqlite3 from 'better-sqlite3';

/** What the command uses of the SDK, whose sources have compiler options of their own. */
export interface Sdk {
  Gateway: new (options: {
    baseUrl: string;
    apiKey: string;
    allowInsecureHttp: boolean;
    retry?: { maxRetries: number };
  }) => Gateway;
  SqliteStore: new (database: BetterSqlite3.Database) => Store;
  IntegrationServiceError: abstract new (...given: never[]) => Error;
  ApiError: abstract new (...given: never[]) => ApiError;
}

export interface Gateway {
  listInstanceIntegrations(options: { signal: AbortSignal }): Promise<Connection[]>;
  listClients(id: string, options: { signal: AbortSignal }): Promise<{ id: string }[]>;
  getChangesDigest(id: string, clientId: string, options: { signal: AbortSignal }): Promise<Digests>;
  sync(id: string, store: Store, options: SyncOptions): Sync;
}

export interface Connection {
  id: string;
  applicationInstance: { instanceName: string };
}

interface Digests {
  entities: { type: string; count: number }[];
}

interface SyncOptions {
  onDifference(differences: readonly Difference[]): void;
  onUndecided(clientIds: readonly string[]): void;
  onError(error: Error): void;
}

export interface Sync {
  run(options: { signal: AbortSignal }): Promise<void>;
  catchUp(options: { signal: AbortSignal }): Promise<void>;
}

export interface Store {
  cursor(): string | null;
  apply(batch: Batch): void;
  digests(): { clientId: string; type: string; count: number; digest: number }[];
}

export interface Batch {
  cursor: string | null;
  changes: readonly Change[];
  isFirst: boolean;
  isLast: boolean;
}

export interface Change {
  type: string;
  id: string;
  clientId: string;
  removed: boolean;
  changedAt: Date;
  version: number;
}

export interface Difference {
  clientId: string;
  type: string;
  count: number;
  storedCount: number;
}

interface ApiError extends Error {
  code: string;
  fields: readonly { path: string }[];
}

export async function loadSdk(): Promise<Sdk> {
  // @ts-expect-error: only the bundler finds it, see .ci/compile.js.
  return (await import('@integration-service/sdk')) as Sdk;
}
