import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { PageTurns } from '../../../src/rpc/message-streams.js';

const PAUSE_MS = 20;

const ONE = { integrationId: 'one', canWait: true };

let turns: PageTurns;
let done: string[];

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  turns = new PageTurns();
  done = [];
});

afterEach(() => {
  jest.useRealTimers();
});

async function pass(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms);
  await nextTurn();
  await nextTurn();
}

async function untilDone(pages: number): Promise<void> {
  while (done.length < pages) {
    await nextTurn();
  }
}

const ask = (integrationId: string, pages: number, canWait = true) =>
  Array.from({ length: pages }, () =>
    turns.make({ integrationId, canWait }, async () => done.push(integrationId)),
  );

describe('the pages of lists', () => {
  test('are made two in a turn of the event loop, and other work comes in between', async () => {
    const pages = ask('page', 5);
    const others = (async () => {
      for (let turn = 1; turn <= 3; turn += 1) {
        await nextTurn();
        done.push(`other work ${turn}`);
      }
    })();
    await Promise.all([...pages, others]);
    expect(done.slice(0, 2)).toEqual(['page', 'page']);
    expect(done.filter((one) => one === 'page')).toHaveLength(5);
    const firstOther = done.indexOf('other work 1');
    expect([firstOther > 0, firstOther < done.lastIndexOf('page')]).toEqual([true, true]);
  });

  test('that are small leave their turn to others at once', async () => {
    const small = Array.from({ length: 5 }, () =>
      turns.make(
        { integrationId: 'small', canWait: false },
        async () => done.push('small'),
        () => true,
      ),
    );
    const other = nextTurn().then(() => done.push('other work'));
    await Promise.all([...small, other]);
    expect(done).toEqual([...Array(5).fill('small'), 'other work']);
  });

  test('are never more than two at once, however long one takes', async () => {
    const finish: (() => void)[] = [];
    const made = Array.from({ length: 5 }, () =>
      turns.make(ONE, () => new Promise<void>((resolve) => finish.push(resolve))),
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
    for (const _ of [1, 2]) {
      await expect(turns.make(ONE, () => Promise.reject(new Error('unreadable')))).rejects.toThrow(
        'unreadable',
      );
    }
    expect(await turns.make(ONE, async () => 'a page')).toBe('a page');
  });

  test('are made of the integrations in turn', async () => {
    await Promise.all([...ask('one', 10), ...ask('other', 2)]);
    expect(done.slice(2, 6)).toEqual(['one', 'other', 'one', 'other']);
  });

  test('that can wait are made one by one with pauses while short calls are answered, and without when there are no more', async () => {
    turns.shortCall();
    ask('one', 20);
    await untilDone(3);
    await pass(0);
    for (let pages = 3; pages < 10; pages += 1) {
      await pass(PAUSE_MS - 1);
      turns.shortCall();
      expect(done).toHaveLength(pages);
      await pass(1);
    }
    expect(done).toHaveLength(10);
    await pass(PAUSE_MS);
    await pass(PAUSE_MS);
    await untilDone(20);
  });

  test('that cannot wait are made without pauses, whatever waits', async () => {
    turns.shortCall();
    ask('many lists', 4);
    ask('few lists', 20, false);
    await untilDone(20 + 3);
    expect(done.filter((page) => page === 'few lists')).toHaveLength(20);
    await pass(PAUSE_MS);
    await untilDone(20 + 4);
  });
});
