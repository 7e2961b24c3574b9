import { describe, expect, test } from '@jest/globals';
import { Turns } from '../../src/fairness/turns.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Asks for so many turns at once, and tells how many have begun. */
function asked(turns: Turns, count: number): () => number {
  let begun = 0;
  for (let index = 0; index < count; index += 1) {
    const waiting = turns.take();
    if (waiting === undefined) {
      begun += 1;
    } else {
      void waiting.then(() => {
        begun += 1;
      });
    }
  }
  return () => begun;
}

describe('turns', () => {
  test('let at most as many jobs begin at once as allowed', () => {
    expect(asked(new Turns(3), 3)()).toBe(3);
  });

  test('have those beyond wait for the turns after, in which as many begin again', async () => {
    const begun = asked(new Turns(3), 8);
    const seen = [begun()];
    for (let turn = 0; turn < 3; turn += 1) {
      await nextTurn();
      seen.push(begun());
    }
    expect(seen).toEqual([3, 6, 8, 8]);
  });

  test('count again for who comes later', async () => {
    const turns = new Turns(2);
    asked(turns, 2);
    await nextTurn();
    expect(asked(turns, 2)()).toBe(2);
  });

  test('go to those who waited before those who come', async () => {
    const turns = new Turns(2);
    asked(turns, 4);
    await nextTurn();
    expect(asked(turns, 1)()).toBe(0);
  });
});
