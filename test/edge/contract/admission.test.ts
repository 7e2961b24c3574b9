import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { Admission, type AdmissionLimits, Busy, type End } from '../../../src/edge/contract/admission.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { turns } from '../../support/turns.js';

const FOREVER: AdmissionLimits = {
  perTurn: 1_000,
  atOnce: 1_000,
  longMs: 60_000,
  maxWaitMs: 60_000,
  few: 0,
  mostWaitMs: 60_000,
};

/** An admission with what has begun and was refused, by name. */
function rig(limits: Partial<AdmissionLimits>) {
  const begun: string[] = [];
  const refused: string[] = [];
  const ends: End[] = [];
  let counted = 0;
  const admission = new Admission(
    () => {
      counted += 1;
    },
    { ...FOREVER, ...limits },
  );
  const ask = async (name: string, { network = 'a', isFirst = false } = {}) => {
    try {
      const end = await admission.begin(network, isFirst);
      begun.push(name);
      ends.push(end);
    } catch (error) {
      refused.push(name);
      throw error;
    }
  };
  const askMany = (count: number, options?: { network?: string; isFirst?: boolean }) =>
    Array.from({ length: count }, (_, index) =>
      ask(`${options?.network ?? 'a'}${index}`, options).catch((error: unknown) => error),
    );
  return { ask, askMany, begun, refused, ends, counted: () => counted };
}

afterEach(() => {
  jest.useRealTimers();
});

describe('requests begin', () => {
  test('a few in each turn of the event loop', async () => {
    const { askMany, begun } = rig({ perTurn: 3 });
    askMany(8);
    const seen: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      await Promise.resolve();
      seen.push(begun.length);
      await turns(1);
    }
    expect(seen).toEqual([3, 6, 8]);
  });

  test('when one that is under way has ended, and its end counts once', async () => {
    const { askMany, begun, ends } = rig({ atOnce: 2 });
    askMany(5);
    await turns(3);
    expect(begun).toHaveLength(2);
    ends[0]?.();
    ends[0]?.();
    await turns(3);
    expect(begun).toHaveLength(3);
  });

  test('although one under way never ends, when it has taken long', async () => {
    const { ask } = rig({ atOnce: 1, longMs: 20, maxWaitMs: 60, mostWaitMs: 60_000, few: 1 });
    await ask('stuck');
    await expect(ask('next')).resolves.toBeUndefined();
  });

  test('one network after the other, however many of one wait', async () => {
    const { askMany, begun } = rig({ perTurn: 1 });
    askMany(1, { network: 'x' });
    askMany(4, { network: 'a' });
    askMany(1, { network: 'b' });
    askMany(1, { network: 'c' });
    await turns(10);
    expect(begun).toEqual(['x0', 'a0', 'b0', 'c0', 'a1', 'a2', 'a3']);
  });

  test('first those for which people wait, and of each four turns one of the others', async () => {
    const { askMany, begun } = rig({ perTurn: 1 });
    askMany(1, { network: 'x' });
    askMany(3, { network: 'program' });
    askMany(7, { network: 'person', isFirst: true });
    await turns(14);
    const kinds = begun.slice(1).map((name) => name.slice(0, -1));
    expect(kinds).toHaveLength(10);
    expect(kinds.slice(0, 8).filter((kind) => kind === 'program')).toHaveLength(2);
    expect(kinds[0]).toBe('person');
  });
});

test('a network with very many requests for which people wait has no more priority for them', async () => {
  const { askMany, begun } = rig({ perTurn: 1 });
  askMany(1, { network: 'x' });
  askMany(40, { network: 'crowd', isFirst: true });
  askMany(1, { network: 'program' });
  await turns(30);
  expect(begun.indexOf('program0')).toBeGreaterThan(0);
  expect(begun.indexOf('program0')).toBeLessThan(20);
});

test('a stall of the process refuses none', async () => {
  const { askMany, begun, refused } = rig({ perTurn: 8, maxWaitMs: 20, mostWaitMs: 20 });
  askMany(16);
  stall();
  await turns(2);
  expect([begun.length, refused]).toEqual([16, []]);
});

test('one stall after the other does not keep late requests from being refused', async () => {
  const { ask, askMany, refused } = rig({ atOnce: 1, maxWaitMs: 20 });
  await ask('under way');
  askMany(1);
  for (let stalls = 0; stalls < 3; stalls += 1) {
    stall();
    await turns(2);
  }
  expect(refused).toEqual(['a0']);
});

/** Nothing else runs meanwhile. */
function stall(): void {
  const until = performance.now() + 150;
  while (performance.now() < until) {
    // Busy.
  }
}

describe('a request that has waited too long', () => {
  test('is refused with a time to come back, and counted', async () => {
    const { ask, begun, counted } = rig({ atOnce: 1, maxWaitMs: 20 });
    await ask('under way');
    const error = await ask('late').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Busy);
    expect(error).toMatchObject({ code: ErrorCode.UNAVAILABLE, retryAfterSeconds: expect.any(Number) });
    expect([begun, counted()]).toEqual([['under way'], 1]);
  });

  test('begins all the same where few wait', async () => {
    const { ask, askMany, begun, ends } = rig({ atOnce: 1, maxWaitMs: 20, few: 2 });
    await ask('under way');
    const [oldest, next, last] = askMany(3);
    expect(await oldest).toBeInstanceOf(Busy);
    ends[0]?.();
    expect(await next).toBeUndefined();
    ends[1]?.();
    expect(await last).toBeUndefined();
    expect(begun).toEqual(['under way', 'a1', 'a2']);
  });

  test('is refused where few wait, too, but later', async () => {
    const { ask } = rig({ atOnce: 1, maxWaitMs: 10, mostWaitMs: 30, few: 5 });
    await ask('under way');
    await expect(ask('late')).rejects.toBeInstanceOf(Busy);
  });

  test('is refused before those for which people wait', async () => {
    // All of them wait equally long.
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const { ask, askMany, refused } = rig({ atOnce: 1, maxWaitMs: 20, few: 2 });
    await ask('under way');
    askMany(2, { network: 'person', isFirst: true });
    const ofPrograms = askMany(2, { network: 'program' });
    await jest.advanceTimersByTimeAsync(40);
    expect(await Promise.all(ofPrograms)).toEqual([expect.any(Busy), expect.any(Busy)]);
    expect(refused).toEqual(['program0', 'program1']);
  });
});
