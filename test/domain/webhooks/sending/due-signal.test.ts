import { describe, expect, test } from '@jest/globals';
import { DueSignal, type NewlyDue, NONE_DUE } from '../../../../src/domain/webhooks/sending/due-signal.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';

/** Longer than a test may take: what waits for its end fails. */
const FOREVER_MS = 60_000;
const PATIENT = new AbortController().signal;

/** So many who wait, and which of them have ended, in the order in which they did. */
function waiting(signal: DueSignal, count: number) {
  const ended: number[] = [];
  const waits = Array.from({ length: count }, async (_, index) => {
    await signal.news(signal.count, FOREVER_MS, PATIENT);
    ended.push(index);
  });
  return { ended, all: Promise.all(waits) };
}

const turn = () => new Promise(setImmediate);

describe('what is newly due', () => {
  const [one, other] = [newPublicId('SubscriptionId'), newPublicId('SubscriptionId')];

  test('is what the wakes since the last look have named, of this node and of others', () => {
    const signal = new DueSignal();
    signal.wake(new Set([one]));
    signal.wakeByOther(new Set([other]));
    expect(signal.takeNewlyDue()).toEqual(new Set([one, other]));
    expect(signal.takeNewlyDue()).toEqual(NONE_DUE);
  });

  test.each([
    ['a wake of this node', (signal: DueSignal) => signal.wake()],
    ['a wake of another node', (signal: DueSignal) => signal.wakeByOther()],
    ['the beginning of wakes of other nodes', (signal: DueSignal) => signal.setNotified(true)],
  ])('is unknown after %s that names nothing', (_, wake) => {
    const signal = new DueSignal();
    signal.wake(new Set([one]));
    wake(signal);
    signal.wake(new Set([other]));
    expect(signal.takeNewlyDue()).toBeUndefined();
    signal.wake(new Set([other]));
    expect(signal.takeNewlyDue()).toEqual(new Set([other]));
  });

  test('is told to other nodes where no claim waits for it', () => {
    const told: NewlyDue[] = [];
    const signal = new DueSignal((due) => told.push(due));
    signal.wake(new Set([one]));
    signal.wake();
    expect(told).toEqual([new Set([one]), undefined]);
  });
});

describe('waiting for deliveries', () => {
  test('each waking wakes one, in the order in which they came', async () => {
    const signal = new DueSignal();
    const { ended, all } = waiting(signal, 3);
    for (const expected of [[0], [0, 1], [0, 1, 2]]) {
      signal.wake();
      await turn();
      expect(ended).toEqual(expected);
    }
    await all;
  });

  test('ends at once after a wake since the look', async () => {
    const signal = new DueSignal();
    const { count } = signal;
    signal.wake();
    await signal.news(count, FOREVER_MS, PATIENT);
  });

  test('is over after its time', async () => {
    const signal = new DueSignal();
    await signal.news(signal.count, 1, PATIENT);
    await signal.news(signal.count, 0, PATIENT);
  });

  test('is over when the caller goes, and a waking after it is for the next', async () => {
    const signal = new DueSignal();
    const caller = new AbortController();
    const given = signal.news(signal.count, FOREVER_MS, caller.signal);
    const { ended, all } = waiting(signal, 1);
    caller.abort();
    await given;
    expect(ended).toEqual([]);
    signal.wake();
    await all;
    await signal.news(signal.count, FOREVER_MS, caller.signal);
  });

  test('is over for all, now and later, when it is closed', async () => {
    const signal = new DueSignal();
    const { all } = waiting(signal, 3);
    expect(signal.closing.aborted).toBe(false);
    signal.close();
    await all;
    expect(signal.closing.aborted).toBe(true);
    await signal.news(signal.count, FOREVER_MS, PATIENT);
  });

  test('is left to other nodes only for what no claim waits for here', async () => {
    let told = 0;
    const signal = new DueSignal(() => {
      told += 1;
    });
    const { all } = waiting(signal, 1);
    signal.wake();
    await all;
    expect(told).toBe(0);
    signal.wake();
    expect(told).toBe(1);
    signal.wake(undefined, true);
    expect(told).toBe(1);
  });

  test('is known before a wake', async () => {
    const signal = new DueSignal();
    expect(signal.isAwaited).toBe(false);
    const { all } = waiting(signal, 1);
    expect(signal.isAwaited).toBe(true);
    signal.wake();
    await all;
    expect(signal.isAwaited).toBe(false);
  });

  test('ends by what other nodes say, which is not said again', async () => {
    let told = 0;
    const signal = new DueSignal(() => {
      told += 1;
    });
    const { all } = waiting(signal, 1);
    signal.wakeByOther();
    await all;
    signal.wakeByOther();
    expect([told, signal.count, signal.countHere]).toEqual([0, 2, 0]);
  });

  test('ends when other nodes begin to say something, for what they have not said', async () => {
    const signal = new DueSignal();
    const { all } = waiting(signal, 1);
    signal.setNotified(true);
    await all;
    expect(signal.isNotified).toBe(true);
    const { count } = signal;
    signal.setNotified(false);
    expect([signal.isNotified, signal.count]).toEqual([false, count]);
  });

  describe('with slots that are not for what is due', () => {
    const unsuited = (signal: DueSignal) => signal.news(signal.count, FOREVER_MS, PATIENT, true);

    test('goes on while another claim waits, and ends by a wake where none does, which other nodes learn too', async () => {
      let told = 0;
      const signal = new DueSignal(() => {
        told += 1;
      });
      let hasEnded = false;
      const wait = unsuited(signal).then(() => {
        hasEnded = true;
      });
      const { all } = waiting(signal, 1);
      signal.wake();
      await all;
      await turn();
      expect([hasEnded, told, signal.isAwaited]).toEqual([false, 0, false]);
      signal.wake();
      await wait;
      expect(told).toBe(1);
    });

    test('ends for all when attempts have ended', async () => {
      const signal = new DueSignal();
      const waits = [unsuited(signal), unsuited(signal)];
      const { ended, all } = waiting(signal, 1);
      signal.wakeUnsuited();
      await Promise.all(waits);
      await turn();
      expect(ended).toEqual([]);
      signal.close();
      await all;
    });

    test('passes on what it was woken for, to a claim that waits here or to other nodes', async () => {
      let told = 0;
      const signal = new DueSignal(() => {
        told += 1;
      });
      const { all } = waiting(signal, 1);
      const { count } = signal;
      signal.passOn();
      await all;
      expect([told, signal.count]).toEqual([0, count]);
      signal.passOn();
      expect([told, signal.count]).toEqual([1, count]);
    });

    test('is over when it is closed', async () => {
      const signal = new DueSignal();
      const wait = unsuited(signal);
      signal.close();
      await wait;
    });
  });
});
