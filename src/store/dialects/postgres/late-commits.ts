import type pg from 'pg';
import { discard, disconnect } from './forgotten-connections.js';

/** The longest time of a timer: pg takes no statement without a limit where its pool has one. */
export const WITHOUT_LIMIT = { query_timeout: 2 ** 31 - 1 };

/** Our limit ended the wait; the answer may still come. */
export class LateAnswer extends Error {}

export function inTime<Answer>(answer: Promise<Answer>, limitMs: number): Promise<Answer> {
  return within(limitMs, answer, () => new LateAnswer('The server did not answer in time: timeout'));
}

/** The outcome of the work; rejects with `failure` if it takes longer than the limit. */
export function within<T>(limitMs: number, work: Promise<T>, failure: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failure()), limitMs);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

/**
 * Connections on which a commit is late, for example while no synchronous replica confirms it. The server
 * does not notice a closed connection then: its process stays, and another connection would be one more of
 * `max_connections`. So each keeps its place in the pool until it is answered or ends. For connections to a
 * process of the server, which `ForgottenConnections` looks after.
 */
export class LateCommits {
  readonly #kept = new Set<pg.PoolClient>();
  #isClosed = false;

  constructor(readonly limitMs: number) {}

  /** `answered` resolves also when the connection ends. */
  keep(client: pg.PoolClient, answered: Promise<unknown>): void {
    this.#kept.add(client);
    void answered.then(() => {
      this.#kept.delete(client);
      discard(client);
    });
    if (this.#isClosed) {
      disconnect(client);
    }
  }

  /** Closes these connections, and each that is kept later. */
  close(): void {
    this.#isClosed = true;
    this.#kept.forEach(disconnect);
  }
}
