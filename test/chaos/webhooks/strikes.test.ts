import { describe, expect, test } from '@jest/globals';
import { strikesOf } from './strikes.js';

const campaign = { seed: 7, edits: 32, eventsPerEdit: 10, rounds: 3, workersFirst: false };

describe('the strikes of a storm', () => {
  test('are the same for the same seed, and others for another', () => {
    expect(strikesOf(campaign)).toEqual(strikesOf(campaign));
    expect(strikesOf({ ...campaign, seed: 8 })).not.toEqual(strikesOf(campaign));
  });

  test('are of each kind in each round, in the order of the writes, at most one at each', () => {
    const strikes = strikesOf(campaign);
    const kinds = strikes.map(({ target, during }) => `${target} ${during}`);
    expect(new Set(kinds).size).toBe(6);
    for (const kind of new Set(kinds)) {
      expect(kinds.filter((other) => other === kind)).toHaveLength(3);
    }
    const edits = strikes.map(({ edit }) => edit);
    expect(edits).toEqual([...new Set(edits)].sort((a, b) => a - b));
    expect(Math.max(...edits)).toBeLessThan(campaign.edits);
  });

  test('are of workers first, if that is asked for', () => {
    const targets = (workersFirst: boolean) =>
      strikesOf({ ...campaign, workersFirst }).map(({ target }) => target === 'worker');
    expect(targets(true)).toEqual([...Array(6).fill(true), ...Array(12).fill(false)]);
    expect(targets(false)).not.toEqual(targets(true));
  });

  test('are refused where there are too few writes for them', () => {
    expect(() => strikesOf({ ...campaign, edits: 17 })).toThrow('too few');
  });
});
