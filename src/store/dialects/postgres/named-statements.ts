import { createHash } from 'node:crypto';
import type { CompiledQuery } from 'kysely';
import type pg from 'pg';
import { isLostStatement, isOutdatedPlan } from './trouble.js';

/** A query that PostgreSQL may parse and plan once per connection. */
export interface NamedQuery<Row = unknown> extends CompiledQuery<Row> {
  readonly statementName?: string;
}

const NAME_LENGTH = 22;
/** Longer than the limit of the statement behind it, which would seem to have lost its connection. */
const LONGEST_MS = 600_000;

/**
 * For a statement whose text is built once: parsing and planning it often takes PostgreSQL longer than
 * running it. The name is a hash of the text, so no connection runs another statement under this name.
 */
export function named<Row>(query: CompiledQuery<Row>): NamedQuery<Row> {
  const statementName = createHash('sha256').update(query.sql).digest('base64url').slice(0, NAME_LENGTH);
  return { ...query, statementName };
}

/** Which connections to a database have prepared statements, and under which names. */
export class NamedStatements {
  /** Connections that lead to one process of the server, and when it last made its plans anew. */
  readonly #direct = new WeakMap<pg.ClientBase, number>();
  #generation = 0;
  #isOff = false;

  /** After `plansKeptMs` the server plans anew. */
  constructor(private readonly plansKeptMs: number) {}

  /**
   * A named statement belongs to a process of the server, which a pooler in transaction mode lends to others.
   * Most poolers tell their clients another process than the one that runs their statements.
   */
  async noteWhetherDirect(client: pg.ClientBase, limitMs: number): Promise<void> {
    const question = { text: 'select pg_backend_pid() as pid', query_timeout: limitMs };
    const { rows } = await client.query<{ pid: number }>(question);
    this.noteProcess(client, rows[0]?.pid);
  }

  /**
   * Marks the connection as direct, and returns true, if `pid`, the process of the server that ran a
   * statement, is the one that the connection was opened to.
   */
  noteProcess(client: pg.ClientBase, pid: number | undefined): boolean {
    const isDirect = pid === (client as { processID?: unknown }).processID;
    if (isDirect) {
      this.#direct.set(client, performance.now());
    }
    return isDirect;
  }

  /** Whether it leads to one process of the server, whose number it knows. A lost statement denies it. */
  isDirect(client: pg.ClientBase): boolean {
    return !this.#isOff && this.#direct.has(client);
  }

  nameOn(client: pg.ClientBase, { statementName }: NamedQuery): string | undefined {
    return statementName !== undefined && this.isDirect(client)
      ? `${statementName}_${this.#generation}`
      : undefined;
  }

  /** Plans fit the tables as they were then, and an import makes tables grow. Waits for nothing. */
  renewPlans(client: pg.ClientBase): void {
    const plannedAt = this.#direct.get(client);
    const now = performance.now();
    if (plannedAt !== undefined && now - plannedAt >= this.plansKeptMs) {
      this.#direct.set(client, now);
      const command = { text: 'discard plans', query_timeout: LONGEST_MS };
      // If this fails, so does the next statement, which reports it.
      client.query(command).catch(() => undefined);
    }
  }

  /**
   * Call it with the first failure of a transaction or read, so that a repetition uses other names or none.
   */
  noteFailure(error: unknown, name: string): void {
    if (isLostStatement(error)) {
      this.#isOff = true;
    } else if (isOutdatedPlan(error) && name.endsWith(`_${this.#generation}`)) {
      this.#generation += 1;
    }
  }
}
