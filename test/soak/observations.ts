import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type BetterSqlite3 from 'better-sqlite3';
import { Sqlite } from '../../src/store/better-sqlite3.js';
import { residents } from '../bench/subjects/memory.js';
import type { Role, ServiceProcess } from '../support/service-process.js';

const ROLES: readonly Role[] = ['edge', 'domain', 'worker'];

/** The values of each observed thing, in order of time. */
export interface Observations {
  megabytes: Map<string, number[]>;
  rows: Map<string, number[]>;
  readiness: string[];
}

export async function observe(
  service: ServiceProcess,
  everyMs: number,
  signal: AbortSignal,
): Promise<Observations> {
  const seen: Observations = { megabytes: new Map(), rows: new Map(), readiness: [] };
  const database = databaseOf(service);
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all() as string[];
  try {
    while (!signal.aborted) {
      const running = await residents();
      for (const role of ROLES) {
        const pid = service.pidOf(role);
        note(seen.megabytes, role, running.find((one) => one.pid === pid)?.megabytes ?? Number.NaN);
      }
      for (const table of tables) {
        note(seen.rows, table, countOf(database, table));
      }
      const answer = await fetch(`${service.opsUrl}/readyz`);
      seen.readiness.push(((await answer.json()) as { status: string }).status);
      await pause(everyMs, undefined, { signal }).catch(() => undefined);
    }
    return seen;
  } finally {
    database.close();
  }
}

export function rowsIn(service: ServiceProcess, table: string): number {
  const database = databaseOf(service);
  try {
    return countOf(database, table);
  } finally {
    database.close();
  }
}

function databaseOf(service: ServiceProcess): BetterSqlite3.Database {
  return new Sqlite(join(service.dataDir, 'integration.db'), { readonly: true });
}

function countOf(database: BetterSqlite3.Database, table: string): number {
  return database.prepare(`SELECT count(*) FROM "${table}"`).pluck().get() as number;
}

function note(seen: Map<string, number[]>, name: string, value: number): void {
  seen.set(name, [...(seen.get(name) ?? []), value]);
}

/** The second and the last third of the values; the first third is the warm-up. */
export function thirdsOf(values: readonly number[]): { second: readonly number[]; last: readonly number[] } {
  const third = Math.floor(values.length / 3);
  return { second: values.slice(third, 2 * third), last: values.slice(2 * third) };
}
