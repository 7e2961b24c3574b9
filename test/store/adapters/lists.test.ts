import { expect, test } from '@jest/globals';
import type { PageRequest, Position } from '../../../src/domain/directory/page.js';
import { clientStore, userStore, workerStore } from '../../../src/store/adapters/directory.js';
import type { Database } from '../../../src/store/database.js';
import { describeEachDatabase } from '../../support/databases.js';
import { plantAccount, plantClient, plantUser, plantWorker } from '../directory-rows.js';
import { CREATED_AT, plantInstance } from '../rows.js';

/** A list that is read in pages: what it is of, how a row gets into it, and how it is read. */
interface ListUnderTest {
  title: string;
  newOwner(database: Database): Promise<string>;
  plant(database: Database, owner: string, row: { id: string; created_at: number }): Promise<unknown>;
  page(database: Database, owner: string, page: PageRequest): Promise<Position[]>;
}

const newClient = async (database: Database) => (await plantClient(database)).id;

const lists: ListUnderTest[] = [
  {
    title: 'clients of an instance',
    newOwner: async (database) => (await plantInstance(database)).id,
    plant: (database, instance_id, row) => plantClient(database, { instance_id, ...row }),
    page: (database, owner, page) => clientStore(database).page(owner as 'ins_', page),
  },
  {
    title: 'users of a client',
    newOwner: newClient,
    plant: async (database, client_id, row) =>
      plantUser(database, { client_id, account_id: (await plantAccount(database)).id, ...row }),
    page: (database, owner, page) => userStore(database).page(owner as 'cli_', page),
  },
  ...[false, true].map((placed) => ({
    title: `workers of a client, ${placed ? 'with' : 'without'} their place`,
    newOwner: newClient,
    plant: (database: Database, client_id: string, row: object) =>
      plantWorker(database, { client_id, ...row }),
    page: (database: Database, owner: string, page: PageRequest) =>
      workerStore(database)[placed ? 'pageV2' : 'page'](owner as 'cli_', page),
  })),
];

const ALL = { after: undefined, limit: 100 };

/** In no order, with three moments and ties in which capitals, digits and prefixes of each other meet. */
const PLANTED: [id: string, age: number][] = [
  ['x_b', 1],
  ['x_a', 1],
  ['x_B', 1],
  ['x_aa', 1],
  ['x_1', 1],
  ['x_z', 0],
  ['x_0', 2],
  ['x__', 1],
];
const IN_ORDER = ['x_z', 'x_1', 'x_B', 'x__', 'x_a', 'x_aa', 'x_b', 'x_0'];

const positions: { title: string; after: Position; from?: string }[] = [
  { title: 'of a row that is gone', after: { createdAt: CREATED_AT + 1, id: 'x_C' }, from: 'x__' },
  { title: 'before all', after: { createdAt: 0, id: 'zzz' }, from: 'x_z' },
  { title: 'between two moments', after: { createdAt: CREATED_AT + 1, id: 'zzz' }, from: 'x_0' },
  { title: 'behind all', after: { createdAt: Number.MAX_SAFE_INTEGER, id: '' } },
  { title: 'beyond what a number holds', after: { createdAt: 1e16, id: 'a' } },
];

for (const list of lists) {
  describeEachDatabase(`the list of ${list.title}`, (under) => {
    async function filled() {
      const database = await under.openMigrated();
      const owner = await list.newOwner(database);
      for (const [id, age] of PLANTED) {
        await list.plant(database, owner, { id, created_at: CREATED_AT + age });
      }
      return { database, owner, read: (page: PageRequest) => list.page(database, owner, page) };
    }
    const idsOf = (rows: Position[]) => rows.map(({ id }) => id);

    test('has the oldest first, and among those of one moment the order of the bytes of the id', async () => {
      const { read } = await filled();
      const rows = await read(ALL);
      expect(idsOf(rows)).toEqual(IN_ORDER);
      expect(rows[0]).toMatchObject({ createdAt: CREATED_AT });
    });

    test('has the rows of its owner only', async () => {
      const { database, owner } = await filled();
      const other = await list.newOwner(database);
      await list.plant(database, other, { id: 'x_other', created_at: CREATED_AT });
      expect(idsOf(await list.page(database, other, ALL))).toEqual(['x_other']);
      expect(idsOf(await list.page(database, owner, ALL))).toEqual(IN_ORDER);
      await expect(list.page(database, 'missing', ALL)).resolves.toEqual([]);
    });

    test('in pages has each row once, also where pages break a tie', async () => {
      const { read } = await filled();
      for (const limit of [1, 2, 3, 7, 8, 9]) {
        const seen: string[] = [];
        let after: Position | undefined;
        do {
          const rows = await read({ after, limit });
          expect(rows.length).toBeLessThanOrEqual(limit);
          seen.push(...idsOf(rows));
          after = rows.at(-1);
        } while (after !== undefined && seen.length <= IN_ORDER.length);
        expect([limit, seen]).toEqual([limit, IN_ORDER]);
      }
    });

    test('continues from any position, whether a row stands there or not', async () => {
      const { read } = await filled();
      for (const { title, after, from } of positions) {
        const rest = from === undefined ? [] : IN_ORDER.slice(IN_ORDER.indexOf(from));
        expect([title, idsOf(await read({ after, limit: 100 }))]).toEqual([title, rest]);
      }
    });
  });
}
