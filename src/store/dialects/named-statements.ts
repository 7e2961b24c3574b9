import type { CompiledQuery } from 'kysely';
import type pg from 'pg';

/** A query that PostgreSQL may parse and plan once per connection. */
export interface NamedQuery<Row = unknown> extends CompiledQuery<Row> {
  readonly statementName?: string;
}

let count = 0;
let generation = 0;

/** For a text that is built once. To parse and plan it often takes PostgreSQL longer than to run it. */
export function named<Row>(query: CompiledQuery<Row>): NamedQuery<Row> {
  count += 1;
  return { ...query, statementName: `kept_${count}` };
}

/** Connections that lead to one process of the server, and when it last made its plans anew. */
const direct = new WeakMap<pg.ClientBase, number>();

/**
 * A named statement belongs to a process of the server, which a pooler in transaction mode lends to others.
 * A pooler tells its clients another process than the one that runs their statements.
 */
export async function noteWhetherDirect(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const { processID } = client as { processID?: unknown };
  if (rows[0]?.pid === processID) {
    direct.set(client, performance.now());
  }
}

/** None for a connection that may lead to several processes. */
export function nameOn(client: pg.ClientBase, { statementName }: NamedQuery): string | undefined {
  return statementName !== undefined && direct.has(client) ? `${statementName}_${generation}` : undefined;
}

/** From now on, statements have other names, and are prepared again. */
export function prepareAnew(): void {
  generation += 1;
}

/** Plans fit the tables as they were then, and an import makes tables grow. Waits for nothing. */
export function renewPlans(client: pg.ClientBase, keptMs: number): void {
  const plannedAt = direct.get(client);
  const now = performance.now();
  if (plannedAt !== undefined && now - plannedAt >= keptMs) {
    direct.set(client, now);
    // The next statement tells of a failure.
    client.query('discard plans').catch(() => undefined);
  }
}
