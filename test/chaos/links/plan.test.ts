import { expect, test } from '@jest/globals';
import { LINKS } from './linked-service.js';
import { KINDS, type Strike, strikesOf } from './plan.js';

const pairsOf = (strikes: readonly Strike[]) => strikes.map(({ link, kind }) => `${link} ${kind}`);
const all = LINKS.flatMap((link) => KINDS.map((kind) => `${link} ${kind}`)).sort();

test('a round strikes each link in each way, in an order of its own that the seed repeats', () => {
  const plan = { seed: 7, links: LINKS, rounds: 2 };
  const strikes = strikesOf(plan);
  const [first, second] = [strikes.slice(0, all.length), strikes.slice(all.length)].map(pairsOf);
  expect([first, second].map((round) => [...(round ?? [])].sort())).toEqual([all, all]);
  expect(first).not.toEqual(second);
  expect(strikesOf(plan)).toEqual(strikes);
  expect(strikesOf({ ...plan, seed: 8 })).not.toEqual(strikes);
});

test.each([1, 2, 3, 4, 5])(
  'without rounds each link is struck once, and each way is used (seed %i)',
  (seed) => {
    const strikes = strikesOf({ seed, links: LINKS, rounds: 0 });
    expect(strikes.map(({ link }) => link).sort()).toEqual([...LINKS].sort());
    expect(new Set(strikes.map(({ kind }) => kind))).toEqual(new Set(KINDS));
  },
);
