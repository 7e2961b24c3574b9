import { describe, expect, test } from '@jest/globals';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import { gathered } from '../../src/rpc/gathered.js';

/** Answers with what was asked in capitals, and notes what was asked together. */
function asking(most: number, withinMs: number, fault?: (questions: string[]) => Error | undefined) {
  const calls: string[][] = [];
  const ask = gathered({ most, withinMs }, async (questions: string[]) => {
    calls.push(questions);
    const error = fault?.(questions);
    if (error) {
      throw error;
    }
    return questions.map((question) => question.toUpperCase());
  });
  return { calls, ask, askAll: (...questions: string[]) => Promise.allSettled(questions.map(ask)) };
}

const answered = (value: string) => ({ status: 'fulfilled', value });

describe('gathered questions', () => {
  test('that are asked at once go together, and each gets its own answer', async () => {
    const { calls, askAll } = asking(10, 0);
    expect(await askAll('a', 'b', 'c')).toEqual(['A', 'B', 'C'].map(answered));
    expect(calls).toEqual([['a', 'b', 'c']]);
  });

  test('that are asked a turn later go by themselves, unless they are waited for', async () => {
    const inTwoTurns = async (withinMs: number) => {
      const { calls, ask } = asking(10, withinMs);
      const first = ask('a');
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      await Promise.all([first, ask('b')]);
      return calls;
    };
    expect(await inTwoTurns(0)).toEqual([['a'], ['b']]);
    expect(await inTwoTurns(50)).toEqual([['a', 'b']]);
  });

  test('go as soon as they are as many as may go together', async () => {
    const { calls, askAll } = asking(2, 60_000);
    expect(await askAll('a', 'b', 'c', 'd')).toEqual(['A', 'B', 'C', 'D'].map(answered));
    expect(calls).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  test('that fail together are asked one by one, so that one fails alone', async () => {
    const refusal = new Error('not b');
    const { calls, askAll } = asking(10, 0, (questions) => (questions.includes('b') ? refusal : undefined));
    expect(await askAll('a', 'b', 'c')).toEqual([
      answered('A'),
      { status: 'rejected', reason: refusal },
      answered('C'),
    ]);
    expect(calls).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
  });

  test('that nobody answers all fail, and are not asked again', async () => {
    const away = new ServiceError(ErrorCode.UNAVAILABLE, 'away');
    const { calls, askAll } = asking(10, 0, () => away);
    expect(await askAll('a', 'b')).toEqual(Array(2).fill({ status: 'rejected', reason: away }));
    expect(calls).toEqual([['a', 'b']]);
  });

  test('go on being asked after some have failed', async () => {
    let isAway = true;
    const { askAll } = asking(10, 0, () => (isAway ? new Error('away') : undefined));
    expect(await askAll('a', 'b')).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    isAway = false;
    expect(await askAll('a')).toEqual([answered('A')]);
  });
});
