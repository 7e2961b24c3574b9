import type { DatabaseConnection, IsolationLevel, QueryResult } from 'kysely';
import type pg from 'pg';
import { asUnknownOutcome } from '../unavailable.js';
import { queryBatch } from './batch.js';
import { discard, disconnect, type ForgottenConnections } from './forgotten-connections.js';
import { inTime, LateAnswer, type LateCommits, WITHOUT_LIMIT } from './late-commits.js';
import type { NamedQuery, NamedStatements } from './named-statements.js';
import {
  asDatabaseTrouble,
  isAfterFailure,
  isLostConnection,
  isMendedByRepetition,
  isServerRefusal,
} from './trouble.js';

/** What the connections of a pool have in common. */
export interface PoolUse {
  readonly named: NamedStatements;
  readonly forgotten: ForgottenConnections | undefined;
  /** Its statements change nothing: one that lost its connection is sent again over another. */
  readonly isRepeatable: boolean;
  readonly patience: Patience;
  /** Keeps connections on which a commit is late; without it, pg closes them at its own limit. */
  readonly lateCommits?: LateCommits;
  readonly onLent: (durationMs: number) => void;
}

/** Stops waiting for an answer; the pool's own limit is a fixed time. */
export type Patience = <T>(answer: Promise<T>) => Promise<T>;

const CHANGING = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** The most statements of a transaction whose answers are still outstanding. */
const MOST_POSTED = 64;

/** A statement that is sent right behind a commit. The caller of the write does not wait for its answer. */
export interface BehindCommit {
  text: string;
  /** It failed, and the commit did not. */
  onFailed(): void;
}

/** One use of a connection. */
export class LentConnection implements DatabaseConnection {
  /** From before `begin` is sent until the server confirmed the end of the transaction. */
  #mayBeInTransaction = false;
  /** Sent with the first statement of the transaction. */
  #before: readonly string[] = [];
  #isOver = false;
  #posted = 0;
  /** The failure of a posted statement, which has failed the transaction. */
  refusal: unknown;
  /** The latest failure of any statement: the reason why the server refuses those after it. */
  #reason: unknown;
  /** After a fault the state of the connection is unknown, such as a statement that is still running. */
  #fault: unknown;
  #behindCommit: () => BehindCommit | undefined = () => undefined;
  /** Resolves with the answer to the statement behind the commit, of any kind. */
  #answeredBehind: Promise<void> | undefined;
  /** Of a commit that our limit ended. Resolves when it is answered or its connection has ended. */
  #answeredLate: Promise<unknown> | undefined;

  /** Whether the pool has it back already. */
  #isReturned = false;

  constructor(
    private client: pg.PoolClient,
    private readonly beginning: readonly string[],
    private readonly use: PoolUse,
    private readonly another: () => Promise<pg.PoolClient>,
  ) {}

  async executeQuery<Row>(query: NamedQuery): Promise<QueryResult<Row>> {
    this.#assertGoesOn();
    try {
      const { command, rowCount, rows } = await this.#send(query).catch((error: unknown) =>
        this.#sendAgain(query, error),
      );
      const numAffectedRows = CHANGING.has(command) ? BigInt(rowCount ?? 0) : undefined;
      return { numAffectedRows, rows: rows as Row[] };
    } catch (error) {
      throw this.#troubleOf(error);
    }
  }

  /**
   * Sends a statement of a transaction and leaves its answer to the next wait, which is that for a later
   * statement or for the end. After a failure the server refuses all later ones, and the commit.
   */
  async post(query: NamedQuery): Promise<void> {
    const isWaited = !this.#mayBeInTransaction || this.#posted >= MOST_POSTED;
    if (isWaited) {
      await this.executeQuery(query);
      return;
    }
    this.#assertGoesOn();
    this.#posted += 1;
    this.#send(query).then(
      () => {
        this.#posted -= 1;
      },
      (error: unknown) => {
        this.refusal = this.#troubleOf(error);
      },
    );
  }

  // biome-ignore lint/correctness/useYield: an interface of Kysely that nothing here uses.
  async *streamQuery<Row>(): AsyncGenerator<QueryResult<Row>> {
    throw new Error('This driver streams no rows.');
  }

  /** Inside a transaction, it only sets the limits again. */
  async begin(level?: IsolationLevel): Promise<void> {
    const limits = this.beginning.slice(1);
    const statements = this.#mayBeInTransaction ? limits : [beginAt(level), ...limits];
    this.#mayBeInTransaction = true;
    try {
      await this.#ask(() => this.client.query(statements.join('; ')));
    } catch (error) {
      throw asDatabaseTrouble(error);
    }
  }

  beginWithFirst(): void {
    this.#before = this.beginning;
  }

  /** Refuses later statements: of work that continues after its transaction has ended. */
  end(): void {
    this.#isOver = true;
  }

  /** `next` is asked at the commit, but not behind a pooler, which may give it another server process. */
  sendBehindCommit(next: () => BehindCommit | undefined): void {
    this.#behindCommit = next;
  }

  async commit(): Promise<void> {
    if (!this.#mayBeInTransaction) {
      return;
    }
    const isDirect = this.use.named.isDirect(this.client);
    const limitMs = isDirect ? this.use.lateCommits?.limitMs : undefined;
    const committed = this.#commit(limitMs);
    const behind = isDirect ? this.#behindCommit() : undefined;
    this.#answeredBehind = behind && this.#sendBehind(behind, committed, limitMs);
    await committed;
  }

  #sendBehind(behind: BehindCommit, committed: Promise<void>, limitMs: number | undefined): Promise<void> {
    const answered = this.#ask(() => this.client.query(statementWithin(limitMs, behind.text)));
    if (limitMs !== undefined) {
      // From the commit on: pg's limit would also end the wait for a commit that is late.
      const onLate = (error: unknown) => error instanceof LateAnswer && disconnect(this.client);
      committed.then(() => inTime(answered, limitMs)).catch(onLate);
    }
    return answered.then(
      () => undefined,
      () => committed.then(behind.onFailed, () => undefined),
    );
  }

  async #commit(limitMs: number | undefined): Promise<void> {
    let command: string;
    const answered = this.#ask(() => this.client.query(statementWithin(limitMs, 'commit')));
    try {
      ({ command } = await (limitMs === undefined ? answered : inTime(answered, limitMs)));
    } catch (error) {
      if (error instanceof LateAnswer) {
        this.#fault ??= error;
        this.#answeredLate = answered;
      }
      throw isServerRefusal(error) ? asDatabaseTrouble(error) : asUnknownOutcome(error);
    }
    this.#mayBeInTransaction = false;
    // The server's answer to COMMIT after a failed statement, which is not an error.
    if (command !== 'COMMIT') {
      await answersHandled();
      throw (
        this.refusal ??
        this.#reason ??
        new Error(`PostgreSQL answered a commit with ${command}: a statement had failed before.`)
      );
    }
  }

  /** If it fails, the transaction ends with its connection, and the caller gets the original error. */
  async rollback(): Promise<void> {
    if (this.#fault === undefined && this.#mayBeInTransaction) {
      await this.#ask(() => this.client.query('rollback')).then(
        () => {
          this.#mayBeInTransaction = false;
        },
        (error: unknown) => {
          this.#fault ??= error;
        },
      );
    }
  }

  release(): void {
    if (this.#isReturned) {
      return;
    }
    if (this.#answeredLate) {
      const answered = Promise.allSettled([this.#answeredLate, this.#answeredBehind]);
      this.use.lateCommits?.keep(this.client, answered);
    } else if (this.#answeredBehind) {
      void this.#answeredBehind.then(() => this.#return());
    } else {
      this.#return();
    }
  }

  #return(): void {
    const isIdle = !this.#mayBeInTransaction && this.client.getTransactionStatus() === 'I';
    if (this.#fault !== undefined) {
      discard(this.client);
    } else if (isIdle) {
      this.client.release();
    } else {
      // Closes the connection: the server rolls back.
      this.client.release(true);
    }
  }

  #assertGoesOn(): void {
    if (this.#isOver) {
      throw new Error('The transaction of this statement is over.');
    }
  }

  /** In the order of the calls, without a wait for earlier answers. */
  async #send(query: NamedQuery): Promise<pg.QueryResult> {
    const name = this.use.named.nameOn(this.client, query);
    const statement = {
      text: query.sql,
      values: [...query.parameters],
      ...(name !== undefined && { name }),
    };
    const before = this.#before;
    if (before.length > 0) {
      this.#before = [];
      this.#mayBeInTransaction = true;
    }
    try {
      return await this.#ask(() =>
        before.length > 0 ? queryBatch(this.client, before, statement) : this.client.query(statement),
      );
    } catch (error) {
      if (name !== undefined && (!isAfterFailure(error) || this.#reason === undefined)) {
        this.use.named.noteFailure(error, name);
      }
      throw error;
    }
  }

  async #sendAgain(query: NamedQuery, error: unknown): Promise<pg.QueryResult> {
    if (this.#mayBeInTransaction) {
      throw error;
    }
    if (this.use.isRepeatable && isLostConnection(error)) {
      // First, because all connections of the pool may be lost.
      this.release();
      this.#isReturned = true;
      this.client = await this.another();
      this.#isReturned = false;
      this.#fault = undefined;
      return this.#send(query);
    }
    if (isMendedByRepetition(error)) {
      return this.#send(query);
    }
    throw error;
  }

  #troubleOf(error: unknown): unknown {
    return isAfterFailure(error) ? (this.#reason ?? error) : asDatabaseTrouble(error);
  }

  async #ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    try {
      const { patience, forgotten } = this.use;
      const answer = question();
      return await patience(forgotten?.during(this.client, answer) ?? answer);
    } catch (error) {
      if (!isServerRefusal(error)) {
        this.#fault ??= error;
      }
      if (isAfterFailure(error)) {
        await answersHandled();
      } else {
        this.#reason = asDatabaseTrouble(error);
      }
      throw error;
    }
  }
}

/** Each statement sees what was committed before it, also where the database has another default. */
export function beginAt(level: IsolationLevel = 'read committed'): string {
  return `begin isolation level ${level}`;
}

/** Without pg's limit where our own applies. */
function statementWithin(limitMs: number | undefined, text: string): pg.QueryConfig {
  return { text, ...(limitMs !== undefined && WITHOUT_LIMIT) };
}

/** By then, all answers that came in one message are handled, and the first failure is noted. */
function answersHandled(): Promise<void> {
  return new Promise(setImmediate);
}
