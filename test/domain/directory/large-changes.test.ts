import { describe, expect, test } from '@jest/globals';
import type { ClientId, InstanceId, InstanceIntegrationId } from '../../../generated/ids.js';
import { sequenceOf } from '../../../src/domain/directory/changes.js';
import type { StoredChange } from '../../../src/domain/directory/stores.js';
import { cursors } from '../../support/changes/cursors.js';

const MOST_BYTES = 256 * 1_024;
const MOST_ITEMS = 500;
/** 100 job titles of 200 characters, and 100 units. */
const LARGEST_BYTES = 126_000;

const instanceIntegrationId = 'iin_HnuQOy4YQg1OdOSCDbMAkY' as InstanceIntegrationId;
const visitor = { instanceId: 'ins_3p6PT9wVyh5HYgpDAJEJd8' as InstanceId } as never;

const PREFIX = { worker: 'wrk', jobTitles: 'cli' };

interface Entity {
  type: keyof typeof PREFIX;
  bytes: number;
}

/** A sequence of entities of these sizes, which remembers what was asked of it. */
function sequenceFrom(entities: readonly Entity[], titlesAtOnce = Number.POSITIVE_INFINITY) {
  const changes = entities.map<StoredChange>(({ type }, index) => ({
    ...{
      type,
      id: `${PREFIX[type]}_${String(index).padStart(22, '0')}`,
      clientId: 'cli_4Fqnh5226raKAAEIfY2jwW' as ClientId,
    },
    ...{ position: index + 1, version: index, removed: false, changedAt: 1 },
  }));
  const asked = { reads: 0, resources: 0, bytes: 0 };
  const read =
    (most = Number.POSITIVE_INFINITY) =>
    async (text: string) => {
      const ids = (JSON.parse(text) as string[]).slice(0, most);
      const found = ids.map((id) => ({
        id,
        json: JSON.stringify('x'.repeat((entities[Number(id.slice(4))]?.bytes ?? 0) - 2)),
      }));
      asked.reads += 1;
      asked.resources += ids.length;
      asked.bytes += found.reduce((sum, { json }) => sum + json.length, 0);
      return found;
    };
  const dependencies = {
    changes: {
      lives: async () => ({ lives: [{ life: '8c1f02d4a7b9', lastPosition: null }], end: 1_000_000 }),
      newestOf: async () => changes.length,
      page: async (_: unknown, { after, limit }: { after: { position: number }; limit: number }) =>
        changes.filter(({ position }) => position > after.position).slice(0, limit),
    },
    cursors,
    clients: {},
    users: {},
    workers: { activeOf: read() },
    organization: { jobTitlesOfAll: read(titlesAtOnce) },
  } as never;
  const page = async (cursor?: string) => {
    const target = { instanceIntegrationId, ...(cursor !== undefined && { cursor }) };
    const { rows, nextCursor } = await (await sequenceOf(dependencies, visitor, target)).page();
    return { ids: rows.map(({ id }) => id), nextCursor };
  };
  const all = async () => {
    const ids: string[] = [];
    let pages = 0;
    let cursor: string | undefined;
    do {
      const read = await page(cursor);
      ids.push(...read.ids);
      cursor = read.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    return { ids, pages };
  };
  return { ids: changes.map(({ id }) => id), asked, page, all };
}

const workers = (count: number, bytes: number) =>
  Array.from({ length: count }, (): Entity => ({ type: 'worker', bytes }));
const jobTitles = (count: number, bytes: number) =>
  Array.from({ length: count }, (): Entity => ({ type: 'jobTitles', bytes }));

describe('a page of changes', () => {
  test('of the largest resources reads few more than it has', async () => {
    const { page, asked } = sequenceFrom(workers(MOST_ITEMS + 1, LARGEST_BYTES));
    expect((await page()).ids).toHaveLength(2);
    expect(asked.bytes).toBeLessThanOrEqual(8 * MOST_BYTES);
  });

  test('of the largest resources behind small ones reads them all no more than once', async () => {
    const large = 250;
    const { page, all, asked } = sequenceFrom([...workers(80, 100), ...workers(large, LARGEST_BYTES)]);
    await page();
    expect(asked.resources).toBeLessThanOrEqual(80 + large);
    asked.bytes = 0;
    const { pages } = await all();
    expect(asked.bytes).toBeLessThanOrEqual((pages * 8 + 125) * MOST_BYTES);
  });

  test('of resources of a middle size reads hardly more than it has', async () => {
    const { page, asked } = sequenceFrom(workers(MOST_ITEMS + 1, 5_000));
    expect((await page()).ids).toHaveLength(52);
    expect(asked.resources).toBeLessThanOrEqual(54);
  });

  test('of as many small resources as an answer may have takes few reads', async () => {
    const { page, asked } = sequenceFrom(workers(MOST_ITEMS + 1, 500));
    expect((await page()).ids).toHaveLength(MOST_ITEMS);
    expect(asked).toMatchObject({ reads: 4, resources: MOST_ITEMS });
  });

  test('of a few resources takes one read', async () => {
    const { page, asked } = sequenceFrom(workers(16, 500));
    expect((await page()).ids).toHaveLength(16);
    expect(asked).toMatchObject({ reads: 1, resources: 16 });
  });
});

describe('the job titles of many clients', () => {
  test.each([1, 2, 7])('of which the store reads %i at once are all there, in order', async (atOnce) => {
    const entities = [...jobTitles(30, 1_000), ...workers(5, 500), ...jobTitles(30, 200_000)];
    const { ids, all, asked } = sequenceFrom(entities, atOnce);
    expect((await all()).ids).toEqual(ids);
    expect(asked.bytes).toBeLessThan(atOnce * 2 * 30 * 201_000);
  });
});
