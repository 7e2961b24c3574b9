import { expect, test } from '@jest/globals';
import { Lanes } from '../../src/fairness/lanes.js';

const isOld = ({ since }: { since: number }) => since <= 5;

/** Those that wait are told by their lane and the time since when they wait. */
function lanesOf(...waiting: [lane: string, since: number][]) {
  const lanes = new Lanes<{ since: number }>();
  const names = new Map<object, string>();
  for (const [lane, since] of waiting) {
    const one = { since };
    names.set(one, `${lane}${since}`);
    lanes.add(lane, one);
  }
  return { lanes, nameOf: (one?: object) => one && names.get(one) };
}

test('those that have waited long enough are taken out, and no others', () => {
  const { lanes, nameOf } = lanesOf(['a', 1], ['a', 2], ['a', 9], ['b', 3], ['c', 8]);
  expect(lanes.takeHeads(isOld, 10).map(nameOf)).toEqual(['a1', 'a2', 'b3']);
  expect(lanes.count).toBe(2);
  expect([lanes.next(), lanes.next(), lanes.next()].map(nameOf)).toEqual(['a9', 'c8', undefined]);
});

test('no more are taken out than may be', () => {
  const { lanes, nameOf } = lanesOf(['a', 1], ['a', 2], ['b', 3]);
  expect(lanes.takeHeads(isOld, 0)).toEqual([]);
  expect(lanes.takeHeads(isOld, -1)).toEqual([]);
  expect(lanes.takeHeads(isOld, 1).map(nameOf)).toEqual(['a1']);
  expect(lanes.count).toBe(2);
});

test('a lane that had one taken out keeps its place, also when it was its only one', () => {
  const { lanes, nameOf } = lanesOf(['many', 1], ['many', 9], ['one', 2], ['other', 8]);
  lanes.takeHeads(isOld, 10);
  lanes.add('one', { since: 10 });
  expect([lanes.next(), lanes.next(), lanes.next()].map((one) => one?.since)).toEqual([9, 10, 8]);
  expect(nameOf(lanes.next())).toBeUndefined();
});

test('the newest of the longest lane is taken out, if so many wait there', () => {
  const { lanes, nameOf } = lanesOf(['one', 1], ['many', 2], ['many', 3], ['other', 4]);
  expect(lanes.takeNewest(3)).toBeUndefined();
  expect(nameOf(lanes.takeNewest(2))).toBe('many3');
  expect(lanes.takeNewest(2)).toBeUndefined();
  expect(nameOf(lanes.takeNewest(1))).toBe('other4');
  expect(lanes.count).toBe(2);
});

test('a lane that had its turn comes after the others', () => {
  const { lanes, nameOf } = lanesOf(['many', 1], ['many', 2], ['one', 3]);
  expect([lanes.next(), lanes.next(), lanes.next()].map(nameOf)).toEqual(['many1', 'one3', 'many2']);
  expect([lanes.count, lanes.waitingIn('many')]).toEqual([0, 0]);
});
