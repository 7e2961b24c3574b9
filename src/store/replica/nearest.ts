import type { DirectoryStores, Nearest } from '../../domain/directory/stores.js';
import { clientStore } from '../adapters/clients.js';
import { organizationStore } from '../adapters/organization.js';
import { keptQuery } from '../adapters/statements/kept-query.js';
import { userStore } from '../adapters/users.js';
import { workerStore } from '../adapters/workers.js';
import { camelCased } from '../camel-case.js';
import type { Database } from '../database.js';
import { isRecoveryConflict } from '../dialects/postgres-trouble.js';
import { databaseReasonOf } from '../store-error.js';
import type { StoreWatch } from '../watch.js';
import { openReplicaPool, type ReplicaPool } from './pool.js';

/** After a failure, how long the replica is not asked. */
const REST_MS = 5_000;

export interface ReplicaListener {
  onAway(reason: string): void;
  onBack(): void;
}

export interface ReplicaOptions extends ReplicaListener {
  url: string;
  restMs?: number;
  watch?: StoreWatch;
}

/** What is read over one pool, until its first failure. */
interface Run {
  pool: ReplicaPool;
  stores: DirectoryStores;
  versionOf(subjectId: string): Promise<string | undefined>;
  isOver: boolean;
}

export function directoryStores(database: Pick<Database, 'reader'>): DirectoryStores {
  return {
    clients: clientStore(database),
    workers: workerStore(database),
    users: userStore(database),
    organization: organizationStore(database),
  };
}

/** The stores of a replica for each read whose version it has, and those of the primary for all others. */
export class NearestStores {
  /** Has answered a trial. */
  #run: Run | undefined;
  #trial: Promise<void> | undefined;
  #restsUntil = 0;
  #isAway = false;
  #isClosed = false;

  constructor(
    private readonly primary: DirectoryStores,
    private readonly options: ReplicaOptions,
  ) {
    this.#tryAgain();
  }

  readonly of: Nearest = async (subjectId, version) => {
    const run = this.#run;
    if (!run) {
      this.#tryAgain();
      return this.#primaryFor('failure');
    }
    let found: string | undefined;
    try {
      found = await run.versionOf(subjectId);
    } catch (error) {
      this.#noteFailure(run, error);
      return this.#primaryFor('failure');
    }
    // Data that has never changed has no version on either server.
    if (found === undefined || found !== version) {
      return this.#primaryFor('lag');
    }
    this.options.watch?.readFrom('replica', '');
    return run.stores;
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#trial;
    const run = this.#run;
    this.#run = undefined;
    await run?.pool.close();
  }

  #primaryFor(reason: 'lag' | 'failure'): DirectoryStores {
    this.options.watch?.readFrom('primary', reason);
    return this.primary;
  }

  /** No caller waits for it. */
  #tryAgain(): void {
    if (!this.#trial && !this.#isClosed && performance.now() >= this.#restsUntil) {
      this.#trial = this.#try().finally(() => {
        this.#trial = undefined;
      });
    }
  }

  async #try(): Promise<void> {
    const run = this.#newRun();
    try {
      await run.versionOf('');
    } catch (error) {
      this.#noteFailure(run, error);
      return;
    }
    if (run.isOver) {
      return;
    }
    this.#run = run;
    if (this.#isAway) {
      this.#isAway = false;
      this.options.onBack();
    }
  }

  #newRun(): Run {
    const pool = openReplicaPool(
      this.options.url,
      (error) => this.#noteFailure(run, error),
      this.options.watch,
    );
    const db = camelCased(pool.reader);
    const versions = keptQuery(db, (id: string) =>
      db.selectFrom('dataVersions').where('subjectId', '=', id).select('version'),
    );
    const near = directoryStores(pool);
    const { primary } = this;
    const run: Run = {
      pool,
      stores: {
        clients: this.#orPrimary(() => run, near.clients, primary.clients),
        workers: this.#orPrimary(() => run, near.workers, primary.workers),
        users: this.#orPrimary(() => run, near.users, primary.users),
        organization: this.#orPrimary(() => run, near.organization, primary.organization),
      },
      versionOf: async (subjectId) => (await versions(subjectId))[0]?.version,
      isOver: false,
    };
    return run;
  }

  /** Each read of the replica that fails is repeated on the primary. */
  #orPrimary<Store extends object>(runOf: () => Run, near: Store, primary: Store): Store {
    type Method = (...given: unknown[]) => Promise<unknown>;
    const methods = Object.entries(near as Record<string, Method>).map(([name, ask]) => {
      const instead = (primary as Record<string, Method>)[name] as Method;
      const method: Method = async (...given) => {
        const run = runOf();
        if (!run.isOver) {
          try {
            return await ask(...given);
          } catch (error) {
            this.#noteFailure(run, error);
          }
        }
        this.options.watch?.readFrom('primary', 'failure');
        return instead(...given);
      };
      return [name, method];
    });
    return Object.fromEntries(methods) as Store;
  }

  #noteFailure(run: Run, error: unknown): void {
    // The server is sound: it replays a change that removes what this statement read.
    if (run.isOver || isRecoveryConflict(error)) {
      return;
    }
    run.isOver = true;
    if (this.#run === run) {
      this.#run = undefined;
    }
    this.#restsUntil = performance.now() + (this.options.restMs ?? REST_MS);
    run.pool.close().catch(() => undefined);
    if (!this.#isAway && !this.#isClosed) {
      this.#isAway = true;
      this.options.onAway(databaseReasonOf(error));
    }
  }
}
