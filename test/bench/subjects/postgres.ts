import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Scope } from '../harness/scope.js';
import { databaseIn, dataDirIn, MAIN, startService } from './service.js';
import { startNode } from './started-process.js';

const KEEPER = fileURLToPath(new URL('../../support/postgres/keeper.js', import.meta.url));

export type StoreKind = 'SQLite' | 'PostgreSQL';

/** What the name of a row says of its store; nothing for SQLite, which is the default. */
export function storeIn(store: StoreKind): string {
  return store === 'SQLite' ? '' : `, on ${store}`;
}

/**
 * The settings of a service on this store. The rows of the workplace move to PostgreSQL by the service's own
 * command, so that a peer can still take its copy of the same rows from the file that they came from.
 */
export async function settingsOn(
  store: StoreKind,
  scope: Scope,
  workplace: string,
): Promise<Record<string, string>> {
  if (store === 'SQLite') {
    return {};
  }
  if (!existsSync(databaseIn(workplace))) {
    await scope.within((first) => startService(first, workplace));
  }
  const settings = { DATABASE_URL: await startPostgres(scope) };
  const move = startNode(scope, {
    arguments: [MAIN, 'migrate-store'],
    env: { ENVIRONMENT: 'demo', DATA_DIR: dataDirIn(workplace), ...settings },
    logFile: join(workplace, 'move.log'),
  });
  await move.succeeded();
  return settings;
}

/** A server of its own, which acknowledges a commit when the disk has it. Ends with the scope. */
async function startPostgres(scope: Scope): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-postgres-'));
  const keeper = spawn(process.execPath, [KEEPER, folder, folder, 'durable'], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(keeper, 'exit');
  scope.onEnd(async () => {
    keeper.stdin.end();
    await ended;
  });
  const [socket] = await Promise.race([
    once(keeper.stdout, 'data'),
    ended.then(() => {
      throw new Error('The keeper of PostgreSQL did not start.');
    }),
  ]);
  const { url, error } = JSON.parse(await text(connect(String(socket).trim())));
  if (!url) {
    throw new Error(`PostgreSQL did not start: ${error}`);
  }
  const databaseUrl = `${url}/postgres`;
  await assertDurable(databaseUrl);
  return databaseUrl;
}

async function assertDurable(databaseUrl: string): Promise<void> {
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    const [row] = await ask(databaseUrl, 'SELECT current_setting($1) AS value', [setting]);
    if (row?.value !== 'on') {
      throw new Error(`PostgreSQL runs with ${setting} = ${row?.value}, which loses what it acknowledged.`);
    }
  }
}

/** One statement over a connection of its own. */
export async function ask(
  databaseUrl: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(statement, [...values])).rows;
  } finally {
    await client.end();
  }
}
