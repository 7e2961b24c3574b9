import { sql } from 'kysely';
import type { DirectoryStores, Nearest } from '../../domain/directory/stores.js';
import { clientStore, userStore, workerStore } from '../adapters/directory.js';
import { organizationStore } from '../adapters/organization.js';
import { keptQuery } from '../adapters/statements/kept-statement.js';
import { camelCased, type Database, type Reader } from '../database.js';
import { isCanceled, isSerializationFailure } from '../dialects/postgres/trouble.js';
import { OneAnswer } from './one-answer.js';
import {
  assertReplicaOf,
  NO_REPLICA,
  openReplicaPool,
  type ReplicaPoolOptions,
  replicaTroubleOf,
} from './pool.js';

/** How long the replica is not used after a failure. */
const REST_MS = 5_000;

export interface ReplicaOptions extends ReplicaPoolOptions {
  onAway(reason: string): void;
  onBack(): void;
  restMs?: number;
}

/** A pool and the stores over it. It is over at the first failure. */
interface Run {
  pool: ReturnType<typeof openReplicaPool>;
  stores: DirectoryStores;
  versionOf: VersionOf;
  isOver: boolean;
}

type VersionOf = (subjectId: string) => Promise<string | undefined>;

export function directoryStores(database: Pick<Database, 'reader'>): DirectoryStores {
  return {
    clients: clientStore(database),
    workers: workerStore(database),
    users: userStore(database),
    organization: organizationStore(database),
  };
}

/** Chooses the replica's stores for each read whose version the replica has, otherwise the primary's. */
export class NearestStores {
  /** Set once a trial has succeeded. */
  #run: Run | undefined;
  #trial: Promise<void> | undefined;
  #restsUntil = 0;
  #awayFor: string | undefined;
  #isClosed = false;
  readonly #shownVersionOf: VersionOf;

  constructor(
    private readonly primary: DirectoryStores,
    private readonly reader: Reader,
    private readonly options: ReplicaOptions,
  ) {
    this.#shownVersionOf = versionsIn(reader, false);
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
    return new OneAnswer({
      ...{ replica: run.stores, primary: this.primary, version },
      present: () => run.versionOf(subjectId),
      shown: () => this.#shownVersionOf(subjectId),
      isUp: () => !run.isOver,
      onFailure: (error) => this.#noteFailureOfPage(run, error),
      onPrimary: (reason) => this.#primaryFor(reason),
    }).stores;
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

  /** Runs in the background; no caller waits for it. */
  #tryAgain(): void {
    if (!this.#trial && !this.#isClosed && performance.now() >= this.#restsUntil) {
      this.#trial = this.#try().finally(() => {
        this.#trial = undefined;
      });
    }
  }

  async #try(): Promise<void> {
    const pool = openReplicaPool(this.options, (error) => this.#noteFailure(run, error));
    const versionOf = versionsIn(pool.reader, true);
    const run: Run = { pool, stores: directoryStores(pool), versionOf, isOver: false };
    try {
      await assertReplicaOf(this.reader, pool.reader);
      await versionOf('');
    } catch (error) {
      this.#end(run, error);
      return;
    }
    if (run.isOver) {
      return;
    }
    this.#run = run;
    if (this.#awayFor !== undefined) {
      this.#awayFor = undefined;
      this.options.onBack();
    }
  }

  /**
   * A large page of one client must not take the replica from the others. Reads of versions notice a slow
   * replica.
   */
  #noteFailureOfPage(run: Run, error: unknown): void {
    if (!isCanceled(error)) {
      this.#noteFailure(run, error);
    }
  }

  #noteFailure(run: Run, error: unknown): void {
    // The server works: it cancelled the statement to replay the removal of rows that the statement may read.
    if (!isSerializationFailure(error)) {
      this.#end(run, error);
    }
  }

  #end(run: Run, error: unknown): void {
    if (run.isOver) {
      return;
    }
    run.isOver = true;
    if (this.#run === run) {
      this.#run = undefined;
    }
    this.#restsUntil = performance.now() + (this.options.restMs ?? REST_MS);
    run.pool.close().catch(() => undefined);
    const reason = replicaTroubleOf(error);
    if (this.#awayFor !== reason && !this.#isClosed) {
      this.#awayFor = reason;
      this.options.onAway(reason);
    }
  }
}

/** Checks a replica for recovery each time, because connections survive the promotion of their server. */
function versionsIn(reader: Reader, mustFollow: boolean): VersionOf {
  const db = camelCased(reader);
  const rows = keptQuery(db, (id: string) =>
    db
      .selectFrom('dataVersions')
      .where('subjectId', '=', id)
      .select(['version', sql<boolean>`pg_is_in_recovery()`.as('follows')]),
  );
  return async (subjectId) => {
    const [row] = await rows(subjectId);
    if (mustFollow && row?.follows === false) {
      throw new Error(NO_REPLICA);
    }
    return row?.version;
  };
}
