import { afterEach, expect, jest, test } from '@jest/globals';
import { AtOnce } from '../../src/fairness/at-once.js';

afterEach(() => {
  jest.useRealTimers();
});

const nextTurn = () => new Promise(setImmediate);

/** Pieces of work that end when they are told, and the names of those that have begun. */
function pieces(atOnce: AtOnce) {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const run = (lane: string, name: string) =>
    atOnce.run(lane, () => {
      begun.push(name);
      return new Promise<void>((resolve, reject) => {
        ends.set(name, (error) => (error ? reject(error) : resolve()));
      });
    });
  const end = async (name: string, error?: Error) => {
    ends.get(name)?.(error);
    await nextTurn();
  };
  return { begun, run, end };
}

test('no more pieces run than may, and those that wait begin as others end, the lanes in turn', async () => {
  const { begun, run, end } = pieces(new AtOnce(2));
  const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => run(name.charAt(0), name));
  expect(begun).toEqual(['a1', 'a2']);
  await end('a2');
  await end('a1');
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1']);
  for (const name of ['a3', 'b1', 'a4']) {
    await end(name);
  }
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'a4']);
});

test('a lane runs at most its own limit at once, and others overtake it', async () => {
  const { begun, run, end } = pieces(new AtOnce(2, { perLane: 1 }));
  const all = ['a1', 'a2', 'b1', 'b2'].map((name) => run(name.charAt(0), name));
  expect(begun).toEqual(['a1', 'b1']);
  await end('b1');
  expect(begun).toEqual(['a1', 'b1', 'b2']);
  await end('b2');
  expect(begun).toHaveLength(3);
  await end('a1');
  await end('a2');
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'b1', 'b2', 'a2']);
});

test('where places rest, the next piece begins after as long as the last one took', async () => {
  jest.useFakeTimers();
  const TOOK_MS = 2_000;
  const atOnce = new AtOnce(1, { rests: true });
  const begun: string[] = [];
  const run = (name: string) =>
    atOnce.run(
      '',
      async () => {
        begun.push(name);
        jest.advanceTimersByTime(TOOK_MS);
      },
      () => true,
    );
  await run('first');
  const second = run('second');
  await jest.advanceTimersByTimeAsync(TOOK_MS - 1);
  expect(begun).toEqual(['first']);
  await jest.advanceTimersByTimeAsync(1);
  await second;
  expect(begun).toEqual(['first', 'second']);
});

test('a piece that fails gives its place to the next', async () => {
  const { begun, run, end } = pieces(new AtOnce(1));
  const failed = expect(run('a', 'first')).rejects.toThrow('gone');
  const second = run('a', 'second');
  await end('first', new Error('gone'));
  await failed;
  await nextTurn();
  expect(begun).toEqual(['first', 'second']);
  await end('second');
  await second;
});

/** Asks for this many pieces that each end their turn, and tells how many have begun. */
async function asked(atOnce: AtOnce, count: number): Promise<() => number> {
  let begun = 0;
  for (let index = 0; index < count; index += 1) {
    void atOnce.run(
      '',
      async () => {
        begun += 1;
      },
      () => true,
    );
  }
  // Those that may begin at once have ended.
  await new Promise(process.nextTick);
  return () => begun;
}

test('of pieces that end their turn, as many begin in each turn of the event loop as may run at once', async () => {
  const begun = await asked(new AtOnce(3), 8);
  const seen = [begun()];
  for (let turn = 0; turn < 3; turn += 1) {
    await nextTurn();
    seen.push(begun());
  }
  expect(seen).toEqual([3, 6, 8, 8]);
});

test('after a turn as many may begin at once again', async () => {
  const atOnce = new AtOnce(2);
  await asked(atOnce, 2);
  await nextTurn();
  expect((await asked(atOnce, 2))()).toBe(2);
});

test('pieces that waited for a turn go before those that come', async () => {
  const atOnce = new AtOnce(2);
  await asked(atOnce, 4);
  await nextTurn();
  expect((await asked(atOnce, 1))()).toBe(0);
});
