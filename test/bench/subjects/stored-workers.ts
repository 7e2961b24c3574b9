import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import type { Scope } from '../harness/scope.js';
import { databaseIn, dataDirIn, startService } from './service.js';
import { makeWorkplace } from './workplace.js';

const ROOT = join(import.meta.dirname, '../../..');
const CACHE = join(ROOT, '.data/bench');

/** A number of new clients. One with more workers than the model has takes several numbers. */
export interface StoredClients {
  firstNumber: number;
  clients: number;
  /** As many as the model has, fewer, or that many times some number. */
  workersEach: number;
}

/** The client of the demo that all are copied from: with layers of units, locations and 500 workers. */
const model = demoSeed.clients.reduce((most, client) =>
  client.workers.length > most.workers.length ? client : most,
);

const FINGERPRINT_LENGTH = 12;
const MODEL_ID_KEPT = 18;
const BULK_CACHE_KIB = 256 * 1_024;

/** Per table, the model's rows per client, and those per copy of its workers. */
const ROWS_OF_CLIENT = {
  clients: 'id = @client',
  data_versions: 'subject_id = @client',
  unit_types: 'client_id = @client',
  units: 'client_id = @client',
  locations: 'client_id = @client',
  job_titles: 'client_id = @client',
};
const ROWS_OF_WORKERS = {
  accounts: 'id IN (SELECT account_id FROM chosen)',
  workers: 'id IN (SELECT id FROM chosen)',
  worker_units: 'worker_id IN (SELECT id FROM chosen)',
};
const IDS_OF_WORKERS = ['worker_id', 'account_id', 'worker_profile_id'];

/** Where the workers of a client are read by an integration of the demo. */
export function workersPath(version: 'v1' | 'v2', clientNumber: number): string {
  return `/${version}/instance-integrations/${connectionId()}/clients/${clientId(clientNumber)}/workers`;
}

/** The instance integration through which every copy is reached, as its model is. */
export function connectionId(): string {
  const connections = demoSeed.integrations.flatMap((integration) => integration.connections);
  const found = connections.find(({ instance, configured }) => configured && instance === model.instance);
  if (!found) {
    throw new Error('The demo has no connection to the instance of its largest client.');
  }
  return found.id;
}

/** The service makes the database, and clients are added while no process has it open. */
export async function makeStoredWorkers(
  scope: Scope,
  workplace: string,
  wanted: readonly StoredClients[],
): Promise<void> {
  await scope.within((first) => startService(first, workplace));
  const database = new Sqlite(databaseIn(workplace));
  try {
    // An interrupted copy leaves an unusable database, which is discarded.
    database.pragma('journal_mode = OFF');
    database.pragma('synchronous = OFF');
    database.pragma('foreign_keys = OFF');
    database.pragma(`cache_size = -${BULK_CACHE_KIB}`);
    for (const clients of wanted) {
      database.transaction(() => copyModel(database, clients))();
    }
    database.pragma('journal_mode = WAL');
  } finally {
    database.close();
  }
}

/** The same where it takes long: kept from run to run, until the schema or what is stored changes. */
export async function cachedStoredWorkers(
  scope: Scope,
  name: string,
  wanted: readonly StoredClients[],
): Promise<string> {
  const kept = join(CACHE, `${name}-${fingerprintOf(wanted)}`);
  if (!existsSync(kept)) {
    mkdirSync(CACHE, { recursive: true });
    for (const former of readdirSync(CACHE).filter((entry) => entry.startsWith(`${name}-`))) {
      rmSync(join(CACHE, former), { recursive: true, force: true });
    }
    // Made beside where it is kept and then renamed, so that what was cut short is never taken for whole.
    const making = `${kept}.new`;
    scope.onEnd(() => rmSync(making, { recursive: true, force: true }));
    for (const folder of ['data', 'data.keys']) {
      mkdirSync(join(making, folder), { recursive: true });
    }
    await makeStoredWorkers(scope, linkedWorkplace(scope, making), wanted);
    renameSync(making, kept);
  }
  return linkedWorkplace(scope, kept);
}

/** A workplace with links to data and keys: the path of a socket must be short, that of the cache is not. */
function linkedWorkplace(scope: Scope, kept: string): string {
  const workplace = makeWorkplace(scope);
  for (const folder of [dataDirIn(workplace), `${dataDirIn(workplace)}.keys`]) {
    symlinkSync(join(kept, basename(folder)), folder);
  }
  return workplace;
}

function fingerprintOf(wanted: readonly StoredClients[]): string {
  const migrations = join(ROOT, 'src/store/migrations');
  const hash = createHash('sha256').update(JSON.stringify(wanted));
  const steps = readdirSync(migrations, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  for (const source of [import.meta.filename, ...steps.sort()]) {
    hash.update(readFileSync(resolve(migrations, source)));
  }
  return hash.digest('hex').slice(0, FINGERPRINT_LENGTH);
}

/**
 * Copies whole tables in SQL, because single inserts of a million rows take minutes. Interleaves clients, so
 * that the workers of one are as scattered as after years.
 */
function copyModel(database: BetterSqlite3.Database, stored: StoredClients): void {
  numberCopies(database, stored);
  database.exec('CREATE TEMP TABLE chosen (id TEXT, account_id TEXT)');
  database
    .prepare(
      'INSERT INTO chosen SELECT id, account_id FROM workers WHERE client_id = ? ORDER BY created_at, id LIMIT ?',
    )
    .run(model.id, Math.min(stored.workersEach, model.workers.length));
  for (const [table, condition] of Object.entries(ROWS_OF_CLIENT)) {
    copyRows(database, table, condition, 'client_number', 'WHERE number = client_number');
  }
  for (const [table, condition] of Object.entries(ROWS_OF_WORKERS)) {
    copyRows(database, table, condition, 'number', '');
  }
  database.exec('DROP TABLE temp.numbers; DROP TABLE temp.chosen');
}

function numberCopies(
  database: BetterSqlite3.Database,
  { firstNumber, clients, workersEach }: StoredClients,
): void {
  database.exec('CREATE TEMP TABLE numbers (number INTEGER PRIMARY KEY, client_number INTEGER)');
  const insert = database.prepare('INSERT INTO numbers VALUES (?, ?)');
  const copiesEach = Math.max(1, workersEach / model.workers.length);
  for (let copy = 0; copy < clients * copiesEach; copy += 1) {
    insert.run(firstNumber + copy, firstNumber + copy - (copy % copiesEach));
  }
}

function copyRows(
  database: BetterSqlite3.Database,
  table: string,
  condition: string,
  ownNumber: 'number' | 'client_number',
  copies: string,
): void {
  const columns = database.pragma(`table_info(${table})`) as { name: string }[];
  const values = columns.map(({ name }) => copyOf(name, ownNumber)).join(', ');
  const rows = condition.replace('@client', `'${model.id}'`);
  database.exec(
    `CREATE TEMP TABLE model AS SELECT * FROM main.${table} WHERE ${rows} ORDER BY ${ageIn(columns)}`,
  );
  database.exec(
    `INSERT INTO main.${table} SELECT ${values} FROM temp.model CROSS JOIN temp.numbers ${copies}`,
  );
  database.exec('DROP TABLE temp.model');
}

/** By age, or by their first column where rows have no age. */
function ageIn(columns: readonly { name: string }[]): string {
  return columns.some(({ name }) => name === 'created_at') ? 'created_at, id' : '1';
}

/** The column of a copy. Ids have the usual format and refer to each other as in the model. */
function copyOf(column: string, ownNumber: 'number' | 'client_number'): string {
  if (column === 'version') {
    return 'lower(hex(randomblob(8)))';
  }
  if (column === 'email' || column === 'email_key') {
    return `number || '.' || ${column}`;
  }
  if (column === 'instance_id' || (column !== 'id' && !column.endsWith('_id'))) {
    return column;
  }
  const number = column === 'id' ? ownNumber : IDS_OF_WORKERS.includes(column) ? 'number' : 'client_number';
  return `substr(${column}, 1, ${MODEL_ID_KEPT}) || printf('%08X', ${number})`;
}

export function clientId(number: number): string {
  return model.id.slice(0, MODEL_ID_KEPT) + number.toString(16).toUpperCase().padStart(8, '0');
}
