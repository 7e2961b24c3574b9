import { expect, test } from '@jest/globals';
import { AtOnce } from '../../src/fairness/at-once.js';

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
