import { type Kysely, sql } from 'kysely';
import type { Writer } from '../database.js';
import type { Schema } from '../schema.js';
import { whenNotBusy } from './busy.js';

const MAX_GROUP = 128;

interface Job {
  work: (writer: Writer) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

type Outcome = { value: unknown } | { error: unknown };

/**
 * Lets writes that wait at the same time share one commit, which is what costs: each runs in a savepoint of its own, so that one
 * that fails takes nothing of the others with it, and all are acknowledged after the commit.
 */
export class GroupCommit {
  readonly #waiting: Job[] = [];
  #running: Promise<void> | undefined;

  constructor(private readonly writer: Kysely<Schema>) {}

  run<T>(work: (writer: Writer) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      this.#running ??= this.#drain();
    });
  }

  /** Until nothing waits any more, what the acknowledged ones went on to write included. */
  async idle(): Promise<void> {
    while (this.#running) {
      await this.#running;
    }
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // A turn of the event loop lets requests that arrived together join the same group, and lets answers go out between groups:
      // SQLite takes no turns of its own.
      await new Promise(setImmediate);
      const group = this.#waiting.splice(0, MAX_GROUP);
      try {
        const outcomes = await this.#commit(group);
        for (const [index, job] of group.entries()) {
          settle(job, outcomes[index] as Outcome);
        }
      } catch (error) {
        // The commit itself failed: nothing of the group was written.
        for (const job of group) {
          job.reject(error);
        }
      }
    }
    this.#running = undefined;
  }

  #commit(group: readonly Job[]): Promise<Outcome[]> {
    return this.writer.connection().execute(async (connection) => {
      await begin(connection);
      try {
        const outcomes: Outcome[] = [];
        for (const job of group) {
          outcomes.push(await inSavepoint(connection, job));
        }
        await sql`commit`.execute(connection);
        return outcomes;
      } catch (error) {
        await sql`rollback`.execute(connection).catch(() => undefined);
        throw error;
      }
    });
  }
}

async function begin(connection: Kysely<Schema>): Promise<void> {
  try {
    await whenNotBusy(() => sql`begin immediate`.execute(connection));
  } catch (error) {
    // Ends what a rollback that failed may have left open, or no write would ever succeed again.
    await sql`rollback`.execute(connection).catch(() => undefined);
    throw error;
  }
}

async function inSavepoint(connection: Kysely<Schema>, job: Job): Promise<Outcome> {
  await sql`savepoint job`.execute(connection);
  try {
    const value = await job.work(connection);
    await sql`release job`.execute(connection);
    return { value };
  } catch (error) {
    try {
      await sql`rollback to job`.execute(connection);
      await sql`release job`.execute(connection);
    } catch {
      // SQLite has ended the whole transaction (a full disk, say): the group fails, and for the reason that led here.
      throw error;
    }
    return { error };
  }
}

function settle(job: Job, outcome: Outcome): void {
  if ('error' in outcome) {
    job.reject(outcome.error);
  } else {
    job.resolve(outcome.value);
  }
}
