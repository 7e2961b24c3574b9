import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { listenOnLoopback } from '../../support/loopback.js';
import { Connection } from '../load/connection.js';
import { questionsOf } from '../load/questions.js';
import type { Comparison, Cost, Sides } from './comparison.js';
import { isMet, median, type Result } from './measure.js';
import { costTableOf, tableOf, writeCosts, writeLatest } from './report.js';
import { runAll } from './run.js';

const quiet = { progress: () => undefined, interrupted: new AbortController().signal };

const row = (name: string, ours: number, goal = 0.5): Result => ({
  name,
  ours,
  reference: 100,
  referenceName: 'peer',
  ratio: ours / 100,
  goal,
  higherIsBetter: true,
});

function comparing(name: string, setUp: Comparison['setUp'], rounds = 3): Comparison {
  const rows = { [name]: { referenceName: 'peer', goal: 0.5, higherIsBetter: true } };
  return { rows, warmUpRounds: 1, rounds, setUp };
}

function costing(edge: number): Cost {
  return { edge, domain: 2 * edge, worker: 0, written: 4 * edge };
}

/** Gives these numbers one after the other. */
function giving(name: string, ours: number[], reference: number[]): Sides {
  const next = (numbers: number[]) => async () => ({ [name]: numbers.shift() ?? Number.NaN });
  return { ours: next(ours), reference: next(reference) };
}

test.each([
  [[5], 5],
  [[9, 1, 5], 5],
  [[4, 1, 2, 3], 2.5],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

test.each([
  { ratio: 0.5, higherIsBetter: true, met: true },
  { ratio: 0.49, higherIsBetter: true, met: false },
  { ratio: 0.5, higherIsBetter: false, met: true },
  { ratio: 0.51, higherIsBetter: false, met: false },
])(
  'a ratio of $ratio against a goal of 0.5, higher is better: $higherIsBetter, is met: $met',
  ({ met, ...given }) => {
    expect(isMet({ ...row('any', 1), ...given })).toBe(met);
  },
);

describe('a run', () => {
  test('takes both sides in turn and counts no warm-up round', async () => {
    const order: string[] = [];
    const sides: Sides = {
      ours: async () => ({ a: order.push('ours') === 1 ? 1_000 : 50 }),
      reference: async () => ({ a: order.push('peer') === 2 ? 1 : 100 }),
    };
    const { measured } = await runAll([comparing('a', async () => sides, 2)], quiet);
    expect(order).toEqual(['ours', 'peer', 'ours', 'peer', 'ours', 'peer']);
    expect(measured[0]).toEqual({ result: row('a', 50), spread: [0.5, 0.5] });
  });

  test('gives medians, and the spread of single rounds', async () => {
    const sides = giving('a', [1, 50, 90, 10], [1, 100, 100, 50]);
    const { measured } = await runAll([comparing('a', async () => sides)], quiet);
    expect(measured[0]).toEqual({ result: row('a', 50), spread: [0.2, 0.9] });
  });

  test('gives the medians of what its rounds cost, without the warm-up', async () => {
    const priced = { what: 'refresh', limit: 'the commit' };
    const each = [9_000, 100, 300, 200];
    const comparison = comparing('a', async (_, noteCost) => ({
      ours: async () => {
        noteCost(costing(each.shift() ?? Number.NaN));
        return { a: 1 };
      },
      reference: async () => ({ a: 1 }),
    }));
    const { costs } = await runAll([{ ...comparison, priced }], quiet);
    expect(costs).toEqual([{ ...priced, ...costing(200) }]);
  });

  test('loses only the rows that fail, and ends what they started', async () => {
    const ended: string[] = [];
    const failing = comparing('bad', async (scope) => {
      scope.onEnd(() => void ended.push('first'));
      scope.onEnd(() => void ended.push('second'));
      throw new Error('the peer is gone');
    });
    const good = comparing('good', async () => giving('good', [1, 2, 2, 2], [1, 4, 4, 4]));
    const unread = comparing('unread', async () => giving('unread', [], []));
    const { measured, failed } = await runAll([failing, unread, good], quiet);
    expect(measured.map(({ result }) => result.name)).toEqual(['good']);
    expect(failed.map(({ name }) => name)).toEqual(['bad', 'unread']);
    expect(ended).toEqual(['second', 'first']);
  });

  test('that is interrupted ends what it started, and keeps what it measured until then', async () => {
    const ended: string[] = [];
    const interruption = new AbortController();
    const endless = comparing('endless', async (scope) => {
      const ours = () =>
        scope.within<never>((round) => {
          round.onEnd(() => void ended.push('round'));
          interruption.abort(new Error('interrupted'));
          return new Promise(() => undefined);
        });
      return { ours, reference: ours };
    });
    const good = comparing('good', async () => giving('good', [1, 2, 2, 2], [1, 4, 4, 4]));
    const after = comparing('after', async () => giving('after', [], []));
    const options = { ...quiet, interrupted: interruption.signal };
    const { measured, failed } = await runAll([good, endless, after], options);
    expect(measured.map(({ result }) => result.name)).toEqual(['good']);
    expect(failed).toEqual([]);
    expect(ended).toEqual(['round']);
  });
});

describe('the report', () => {
  test('aligns its columns and says which goals are met and which rows failed', () => {
    const rows = [row('short', 60), row('rather longer', 12_345, 200)];
    const table = tableOf(
      rows.map((result) => ({ result, spread: [0.1, 0.9] as const })),
      [{ name: 'broken', reason: 'no answer' }],
    );
    expect(`\n${table}\n`).toBe(`
                 ours  reference        ratio   rounds   goal
short              60        100  peer    0.6  0.1–0.9  ≥ 0.5  met
rather longer  12,345        100  peer    123  0.1–0.9  ≥ 200  missed
broken: FAILED. no answer
`);
  });

  test('says of a row without a goal neither that it is met nor that it is missed', () => {
    const { goal: _, ...result } = row('merely told', 60);
    expect(`\n${tableOf([{ result, spread: [0.1, 0.9] }], [])}\n`).toBe(`
             ours  reference        ratio   rounds  goal
merely told    60        100  peer    0.6  0.1–0.9  none
`);
  });

  test('tells what a million costs in each process and in all', () => {
    const table = costTableOf([{ what: 'refresh', limit: 'the commit', ...costing(400) }]);
    expect(`\n${table}`).toBe(`

for a million of  edge s  domain s  worker s  all s  MB written
refresh              400       800         0  1,200       1,600
`);
    expect(costTableOf([])).toBe('');
  });

  test('publishes costs with two digits, the day and the machine', () => {
    const directory = mkdtempSync(join(tmpdir(), 'bench-'));
    const file = join(directory, 'costs.json');
    try {
      writeCosts(file, [{ what: 'refresh', limit: 'the commit', ...costing(123.4) }], 6.923);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
        measuredOn: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        machine: expect.stringMatching(/^\d+ cores, .*Node \d+\./),
        idleConnectionsMegabytes: 6.9,
        costs: [
          {
            what: 'refresh',
            limit: 'the commit',
            edge: 120,
            domain: 250,
            worker: 0,
            written: 490,
          },
        ],
      });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('keeps the rows that were not run, and neither failed nor former ones', () => {
    const directory = mkdtempSync(join(tmpdir(), 'bench-'));
    const file = join(directory, 'deep', 'latest.json');
    try {
      writeLatest(file, [row('not run', 1), row('failed now', 2), row('former', 3), row('again', 4)], []);
      writeLatest(file, [row('again', 5)], ['not run']);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([row('not run', 1), row('again', 5)]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

test.each([
  { asked: 200, given: 200, failure: undefined },
  { asked: 304, given: 304, failure: undefined },
  { asked: 200, given: 429, failure: /^\/list answered 429, not 200/ },
])('a load that expects $asked and gets $given fails with: $failure', async ({ asked, given, failure }) => {
  const server = createServer((_, response) =>
    response.writeHead(given).end(given === 304 ? undefined : 'ä'.repeat(99)),
  );
  const port = await listenOnLoopback(server);
  const target = { host: '127.0.0.1', port, path: '/list', headers: {}, expectStatus: asked };
  const outcome = await new Promise<string | undefined>((resolve) => {
    const connection = new Connection(target, questionsOf(target)(), (error) => resolve(error?.message));
    server.on('request', () => {
      if (connection.answered >= 5) {
        connection.close();
        resolve(undefined);
      }
    });
  });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(outcome).toEqual(failure === undefined ? undefined : expect.stringMatching(failure));
});
