import { expect, test } from '@jest/globals';
import { Trail } from '../../../src/domain/platform/trail.js';
import type { Changes } from '../../../src/domain/platform/unit-of-work.js';

const ROWS_PER_PAGE = 250;
const PAGES = 5;

test('names only the fields that a write of very many rows has changed', async () => {
  const trail = new Trail();
  const { workers } = trail.over({
    workers: {
      page: async ({ after = 0 }: { after: number }) =>
        Array.from({ length: ROWS_PER_PAGE }, (_, index) => ({
          ...{ id: `wrk_${after + index}`, firstName: 'Maren', jobTitles: ['Baker'] },
        })),
      update: async () => undefined,
    },
  } as unknown as Changes) as unknown as {
    workers: { page(from: { after: number }): Promise<object[]>; update(worker: object): Promise<void> };
  };
  for (let page = 0; page < PAGES; page += 1) {
    for (const worker of await workers.page({ after: page * ROWS_PER_PAGE })) {
      await workers.update({ ...worker, jobTitles: ['Pastry Cook'] });
    }
  }
  const { fields } = trail.attributes({ type: 'client', id: 'cli_1' });
  expect(fields).toBe('worker.job_titles');
});

test('names the changed fields of rows that one call writes, and their ids', async () => {
  const trail = new Trail();
  const row = (number: number) => ({ id: `wrk_${number}`, jobTitles: ['Baker'], location: null });
  const { workers } = trail.over({
    workers: { findAll: async () => [row(1), row(2)], rewrite: async () => undefined },
  } as unknown as Changes) as unknown as {
    workers: { findAll(): Promise<object[]>; rewrite(workers: object[]): Promise<void> };
  };
  const found = await workers.findAll();
  await workers.rewrite(found.map((worker) => ({ ...worker, jobTitles: ['Pastry Cook'] })));
  expect(trail.attributes({ type: 'client', id: 'cli_1' })).toEqual({
    fields: 'worker.job_titles',
    also: 'wrk_1 wrk_2',
  });
});

test('takes no count and no list of names for a write', async () => {
  const trail = new Trail();
  const { accounts, units } = trail.over({
    accounts: { namesAround: async () => ['Maren'] },
    units: { count: async () => 1 },
  } as unknown as Changes);
  await accounts.namesAround('acc_1');
  await units.count('cli_1');
  expect(trail.isUntold).toBe(false);
});

test('names only the changed fields of a row that two methods write, one of them in part', async () => {
  const trail = new Trail();
  const worker = { id: 'wrk_1', firstName: 'Maren', jobTitles: ['Baker'], units: [], primaryUnit: null };
  const { workers } = trail.over({
    workers: { find: async () => worker, assign: async () => undefined, update: async () => undefined },
  } as unknown as Changes) as unknown as Record<'workers', Record<string, (worker: object) => Promise<void>>>;
  const unit = { id: 'oun_1', name: 'Bakery' };
  await workers.find?.({ id: worker.id });
  await workers.assign?.({ id: worker.id, units: [unit] });
  await workers.update?.({ ...worker, units: [unit], primaryUnit: unit });
  expect(trail.attributes({ type: 'worker', id: worker.id })).toEqual({ fields: 'primary_unit units' });
});
