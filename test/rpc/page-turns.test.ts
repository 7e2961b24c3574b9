import { describe, expect, test } from '@jest/globals';
import { PageTurns } from '../../src/rpc/page-turns.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('the pages of lists', () => {
  test('are made so many in a turn of the event loop, and other work comes in between', async () => {
    const turns = new PageTurns(2);
    const done: string[] = [];
    const lists = ['a', 'b', 'c', 'd', 'e'].map((list) => turns.make(async () => done.push(list)));
    const others = (async () => {
      for (let turn = 1; turn <= 3; turn += 1) {
        await nextTurn();
        done.push(`other work ${turn}`);
      }
    })();
    await Promise.all([...lists, others]);
    expect(done.slice(0, 2)).toEqual(['a', 'b']);
    expect(done.filter((one) => one.length === 1)).toEqual(['a', 'b', 'c', 'd', 'e']);
    const firstOther = done.indexOf('other work 1');
    expect([firstOther > 0, firstOther < done.indexOf('e')]).toEqual([true, true]);
  });

  test('are never more than so many at once, however long one takes', async () => {
    const turns = new PageTurns(2);
    const finish: (() => void)[] = [];
    const made = Array.from({ length: 5 }, () =>
      turns.make(() => new Promise<void>((resolve) => finish.push(resolve))),
    );
    await nextTurn();
    await nextTurn();
    expect(finish).toHaveLength(2);
    finish[0]?.();
    await made[0];
    await nextTurn();
    await nextTurn();
    expect(finish).toHaveLength(3);
  });

  test('that fail give their turn on', async () => {
    const turns = new PageTurns(1);
    await expect(turns.make(() => Promise.reject(new Error('unreadable')))).rejects.toThrow('unreadable');
    expect(await turns.make(async () => 'a page')).toBe('a page');
  });
});
