import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import pg from 'pg';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import { type Move, moveToPostgres, type Outcome } from '../../../src/store/moves/move-to-postgres.js';
import { MOVED_FILE } from '../../../src/store/moves/moved-file.js';
import { listenOnLoopback, onLoopback } from '../../support/loopback.js';

/** Texts whose order, length or spelling differs between the databases or their drivers. */
const PREFIXES = [
  ...['', ' ', '"', "'", '\\', '{', '}', '{NULL}', 'NULL', ',', '$1', '%s', '\n', '\t', '\u0001', '\u007f'],
  ...['a', 'A', 'Z', '_', '~', 'é', 'e\u0301', 'ß', '€', '\ue000', '\ufffd', '\uffff', '😀', '\u{10ffff}'],
];
/** Beyond the integers that JavaScript counts in, and beyond 32 bits. */
const LARGE = 9_007_199_254_740_993n;
const BEYOND_32_BITS = 5_000_000_000n;

interface Column {
  name: string;
  type: string;
  notnull: number;
  pk: number;
}

interface Reference {
  from: string;
  table: string;
  to: string;
}

export function sqliteIn(dataDir: string): BetterSqlite3.Database {
  return new Sqlite(join(dataDir, 'integration.db'));
}

/**
 * Rows in every table but that of the environment. References of a table to itself point to later rows. Drops
 * the triggers, which would write rows of their own.
 */
export function plantEveryTable(dataDir: string, usual: number, others: Record<string, number> = {}): void {
  const countOf = (table: string) => others[table] ?? usual;
  const database = sqliteIn(dataDir);
  try {
    database.pragma('foreign_keys = OFF');
    const triggers = database.prepare("select name from sqlite_master where type = 'trigger'").pluck().all();
    database.exec(triggers.map((name) => `drop trigger ${name};`).join('\n'));
    for (const table of tablesOf(database).filter((name) => name !== 'environment')) {
      const columns = database.pragma(`table_info(${table})`) as Column[];
      const references = database.pragma(`foreign_key_list(${table})`) as Reference[];
      const insertion = database.prepare(
        `insert into ${table} (${columns.map(({ name }) => name).join(', ')}) values (${columns.map(() => '?').join(', ')})`,
      );
      database.transaction(() => {
        for (let index = 0; index < countOf(table); index += 1) {
          insertion.run(...columns.map((column) => valueFor(table, column, references, index, countOf)));
        }
      })();
    }
  } finally {
    database.close();
  }
}

function valueFor(
  table: string,
  column: Column,
  references: readonly Reference[],
  index: number,
  countOf: (table: string) => number,
): string | bigint | null {
  if (column.notnull === 0 && column.pk === 0 && index % 3 === 1) {
    return null;
  }
  const reference = references.find(({ from }) => from === column.name);
  if (reference !== undefined) {
    const other = reference.table === table ? index + 1 : index;
    return textOf(reference.table, reference.to, other % countOf(reference.table));
  }
  if (column.type.toLowerCase() === 'text') {
    return textOf(table, column.name, index);
  }
  if (column.name === 'seq') {
    return BEYOND_32_BITS + BigInt(index);
  }
  return column.type.toLowerCase() === 'bigint' ? LARGE + BigInt(index) : BigInt(index) - 2n ** 31n;
}

function textOf(table: string, column: string, index: number): string {
  return `${PREFIXES[index % PREFIXES.length]}${table}.${column}.${index}`;
}

export function tablesOf(database: BetterSqlite3.Database): string[] {
  return database
    .prepare(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' and name not like 'kysely%' order by name",
    )
    .pluck()
    .all() as string[];
}

type Rows = Record<string, Record<string, string | null>[]>;

/** Every row of every table, with values as text. */
export function rowsOfSqlite(dataDir: string): Rows {
  const database = sqliteIn(dataDir);
  try {
    return Object.fromEntries(
      tablesOf(database).map((table) => [
        table,
        sorted(database.prepare(`select * from ${table}`).safeIntegers().all() as object[]),
      ]),
    );
  } finally {
    database.close();
  }
}

export async function rowsOfPostgres(databaseUrl: string): Promise<Rows> {
  return withPostgres(databaseUrl, async (client) => {
    const { rows: tables } = await client.query(
      "select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'kysely%' order by 1",
    );
    const found: Rows = {};
    for (const { name } of tables) {
      found[name] = sorted((await client.query(`select * from ${name}`)).rows);
    }
    return found;
  });
}

function sorted(rows: readonly object[]): Rows[string] {
  const texts = rows.map((row) =>
    JSON.stringify(
      Object.entries(row)
        .filter(([name]) => name !== 'place')
        .map(([name, value]) => [name, value === null ? null : String(value)])
        .sort(),
    ),
  );
  return texts.sort().map((text) => Object.fromEntries(JSON.parse(text)));
}

export async function withPostgres<T>(
  databaseUrl: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

export const AT = 1_790_000_000_123;

/** A move whose audit record is not chained: the planted keys are none. */
export function move(dataDir: string, databaseUrl: string, given: Partial<Move> = {}): Promise<Outcome> {
  return moveToPostgres({
    ...{ dataDir, databaseUrl, to: 'postgres://db.example/it', environment: 'demo', at: AT },
    keyIds: given.keyIds ?? keyIdsIn(dataDir),
    issuer: { issuer: 'https://sign-on.example.com' },
    useKeys: async () => undefined,
    onProgress: () => undefined,
    ...given,
  });
}

function keyIdsIn(dataDir: string): string[] {
  const database = sqliteIn(dataDir);
  try {
    return database.prepare('select id from encryption_keys').pluck().all() as string[];
  } finally {
    database.close();
  }
}

/** Cuts the connection at the commit of the rows: before it reaches the server, or before its answer. */
export async function cuttingProxy(databaseUrl: string, dataDir: string, at: 'question' | 'answer') {
  const { hostname, port } = new URL(databaseUrl);
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    let isCut = false;
    const cut = () => {
      client.destroy();
      server.destroy();
    };
    client.on('error', cut).on('close', cut);
    server.on('error', cut).on('close', cut);
    client.on('data', (data) => {
      isCut = existsSync(join(dataDir, MOVED_FILE)) && data.includes('commit');
      if (isCut && at === 'question') {
        cut();
      } else {
        server.write(data);
      }
    });
    server.on('data', (data) => (isCut ? cut() : client.write(data)));
  });
  const ownPort = await listenOnLoopback(proxy);
  return {
    url: onLoopback(databaseUrl, ownPort).href,
    close: () => void proxy.close(),
  };
}
