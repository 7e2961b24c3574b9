import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import BetterSqlite3 from 'better-sqlite3';
import { createQueryId, type RootOperationNode, SqliteQueryCompiler } from 'kysely';
import { clientStore } from '../../src/store/adapters/clients.js';
import { organizationStore } from '../../src/store/adapters/organization.js';
import { userStore } from '../../src/store/adapters/users.js';
import { visitStore } from '../../src/store/adapters/visits.js';
import { workerStore } from '../../src/store/adapters/workers.js';
import type { Database } from '../../src/store/database.js';
import { databaseUnderTest } from '../support/databases.js';
import { plantClient, plantUnit, plantWorker } from './directory-rows.js';

const page = { after: { createdAt: 1, id: 'x' }, limit: 250 };
const first = { after: undefined, limit: 250 };
const hash = new Uint8Array(32);

type Read = (database: Database) => Promise<unknown>;

const reads: [title: string, read: Read, plan: RegExp[]][] = [
  [
    'a first page of clients',
    (db) => clientStore(db).page('ins_1', first),
    [/^SEARCH clients USING INDEX clients_by_age \(instance_id=\?\)$/],
  ],
  [
    'a page of clients',
    (db) => clientStore(db).page('ins_1', page),
    [/clients_by_age \(instance_id=\? AND \(created_at,id\)>\(\?,\?\)\)$/],
  ],
  [
    'a page of users',
    (db) => userStore(db).page('cli_1', page),
    [/^SEARCH users USING INDEX users_by_age \(client_id=\? AND \(created_at,id\)>\(\?,\?\)\)$/],
  ],
  [
    'a page of workers',
    (db) => workerStore(db).page('cli_1', page, false),
    [/workers_by_age \(client_id=\? AND \(created_at,id\)>\(\?,\?\)\)$/],
  ],
  [
    'a page of workers with their place',
    (db) => workerStore(db).page('cli_1', page, true),
    [/workers_by_age \(client_id=\? AND \(created_at,id\)>\(\?,\?\)\)$/],
  ],
  [
    'the structure',
    (db) => organizationStore(db).structureOf('cli_1'),
    [/^SEARCH units USING INDEX units_by_age/, /^SEARCH locations USING INDEX locations_by_age/],
  ],
  [
    'the job titles',
    (db) => organizationStore(db).jobTitlesOf('cli_1'),
    [/^SEARCH job_titles USING COVERING INDEX/],
  ],
  ['a key', (db) => visitStore(db).findKey(hash), [/^SEARCH key USING INDEX .* \(hash=\?\)$/]],
  [
    'a key and its connection',
    (db) => visitStore(db).findConnection(hash, 'iin_1'),
    [/^SEARCH connection USING INDEX .*LEFT-JOIN$/],
  ],
  [
    'a key and a client',
    (db) => visitStore(db).findClient(hash, 'iin_1', 'cli_1'),
    [/^SEARCH client USING INDEX .*LEFT-JOIN$/],
  ],
];

describe('on SQLite', () => {
  const under = databaseUnderTest('SQLite');

  /** How the database goes about each question that the read asks. */
  async function plansOf(read: Read): Promise<string[]> {
    const place = await under.newPlace();
    const database = await under.openMigrated(place);
    const asked: { sql: string; parameters: readonly unknown[] }[] = [];
    const compiler = new SqliteQueryCompiler();
    const reader = database.reader.withPlugin({
      transformQuery: ({ node }) => {
        asked.push(compiler.compileQuery(node as RootOperationNode, createQueryId()));
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    await read({ ...database, reader });
    const explainer = new BetterSqlite3(join(place.dataDir, 'integration.db'), { readonly: true });
    try {
      return asked.flatMap(({ sql, parameters }) =>
        explainer
          .prepare(`explain query plan ${sql}`)
          .all(...parameters.map(() => null))
          .map((row) => (row as { detail: string }).detail),
      );
    } finally {
      explainer.close();
    }
  }

  test.each(reads)('%s is read from an index, at any size of the tables', async (_, read, expected) => {
    const plans = await plansOf(read);
    for (const plan of expected) {
      expect(plans).toContainEqual(expect.stringMatching(plan));
    }
    expect(plans.filter((plan) => plan.startsWith('SCAN'))).toEqual([]);
  });

  test.each(reads.filter(([title]) => title.includes('page')))('%s is not sorted', async (_, read) => {
    expect((await plansOf(read)).join()).not.toContain('TEMP B-TREE');
  });

  test('the units of a page of workers are read by worker', async () => {
    const plans = await plansOf(async (database) => {
      const { id } = await plantClient(database);
      await plantWorker(database, { client_id: id }, [(await plantUnit(database, id)).id]);
      return workerStore(database).page(id, first, true);
    });
    expect(plans).toContainEqual(
      expect.stringMatching(/^SEARCH worker_units USING INDEX .*\(worker_id=\?\)$/),
    );
  });
});
