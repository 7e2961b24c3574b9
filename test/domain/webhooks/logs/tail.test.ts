import { describe, expect, test } from '@jest/globals';
import type { Delivery } from '../../../../src/domain/webhooks/deliveries.js';
import {
  type TailEntry,
  type TailFilter,
  tailDeliveries,
} from '../../../../src/domain/webhooks/logs/tail.js';
import { fakeClock } from '../../clock.js';
import { logEntryRows, type PlantedLogEntry, plantedId } from './planted-log-entries.js';

describe('a tail of deliveries', () => {
  /** Time passes only while the tail pauses, a quarter of a second each time, as the watcher permits. */
  function watching({ since, filter = { eventTypes: [] } }: { since?: number; filter?: TailFilter } = {}) {
    const clock = fakeClock();
    const planted: PlantedLogEntry[] = [];
    const hangUp = new AbortController();
    let pauses = 0;
    const tail = tailDeliveries(filter, since, {
      rows: logEntryRows(planted, clock.now),
      clock: clock.now,
      signal: hangUp.signal,
      pause: async () => {
        pauses += 1;
        clock.advance(250);
        // A tail that never finds what it is asked for must not run for ever.
        if (pauses > 1_000) {
          hangUp.abort();
        }
      },
    });
    let number = 0;
    const happens = (attemptNumber: number, delivery: Partial<Delivery> = {}, at = clock.now()) => {
      number += 1;
      // Of a delivery that is named, what happened before was of the same one.
      const earlier = planted.find(({ deliverySeq }) => plantedId(deliverySeq) === delivery.id);
      const deliverySeq = earlier?.deliverySeq ?? number;
      planted.push({ at, committedAt: at, deliverySeq, attemptNumber, delivery });
      return plantedId(deliverySeq);
    };
    const next = async () => (await tail.next()).value as TailEntry;
    return { clock, hangUp, tail, happens, next };
  }

  test('reports a delivery when it is made, as it was then, and of each attempt that ended', async () => {
    const { happens, next, clock } = watching();
    const delivered = { status: 'DELIVERED' as const, attemptsBegun: 1, endedAt: clock.now() + 4 };
    const id = happens(0, delivered, clock.now() + 1);
    happens(1, { ...delivered, id }, clock.now() + 4);
    const made = await next();
    expect(made).toMatchObject({
      delivery: { id, status: 'PENDING', attemptsBegun: 0, endedAt: null },
      skipped: 0,
    });
    expect(made.attempt).toBeUndefined();
    await expect(next()).resolves.toMatchObject({
      delivery: { id, status: 'DELIVERED' },
      attempt: { number: 1, outcome: 'SUCCEEDED', httpStatus: 204 },
      skipped: 0,
    });
  });

  test('begins now unless it is told since when', async () => {
    const { happens, next, clock } = watching();
    happens(0, {}, clock.now() - 1);
    const id = happens(0, {}, clock.now() + 1);
    await expect(next()).resolves.toMatchObject({ delivery: { id } });
  });

  test('leaves out what its filter does not take', async () => {
    const filters: [TailFilter, Partial<Delivery>][] = [
      [{ eventTypes: [], subscriptionId: 'whs_2' }, { subscriptionId: 'whs_2' }],
      [{ eventTypes: [], instanceIntegrationId: 'iin_2' }, { instanceIntegrationId: 'iin_2' }],
      [{ eventTypes: ['worker.*'] }, { eventType: 'worker.updated' }],
    ];
    for (const [filter, wanted] of filters) {
      const { happens, next } = watching({ filter });
      happens(0);
      const id = happens(0, wanted);
      happens(1);
      await expect(next()).resolves.toMatchObject({ delivery: { id }, skipped: 0 });
    }
  });

  test('tells the past whole, and what happened while it was read, however slowly that goes', async () => {
    const { happens, next, clock } = watching({ since: fakeClock().now() - 3_600_000 });
    const startedAt = clock.now();
    const ids = Array.from({ length: 1_200 }, (_, index) => happens(0, {}, startedAt - 3_600_000 + index));
    const read: TailEntry[] = [];
    while (read.length < ids.length) {
      read.push(await next());
      clock.advance(1_000);
      if (read.length <= 50) {
        ids.push(happens(0));
      }
    }
    expect(read.map(({ delivery }) => delivery.id)).toEqual(ids);
    expect(read.filter(({ skipped }) => skipped > 0)).toEqual([]);
  });

  test('shows a watcher who was too slow the present, and says how much was left out', async () => {
    const { happens, next, clock } = watching();
    happens(0, {}, clock.now() + 600);
    await next();
    for (let count = 0; count < 700; count += 1) {
      happens(0, {}, clock.now() + 1 + count);
    }
    clock.advance(60_000);
    const id = happens(0, {}, clock.now() - 10);
    await expect(next()).resolves.toMatchObject({ delivery: { id }, skipped: 700 });
    const following = happens(0, {}, clock.now());
    await expect(next()).resolves.toMatchObject({ delivery: { id: following }, skipped: 0 });
  });

  test.each<[string, TailFilter]>([
    ['of everything', { eventTypes: [] }],
    ['of some', { eventTypes: ['user.*'] }],
  ])(
    '%s shows no more than can be followed of what happens now, and says how much was left out',
    async (_, filter) => {
      const { happens, next, clock } = watching({ filter });
      happens(0, {}, clock.now() + 600);
      await next();
      const first = clock.now();
      for (let count = 0; count < 1_300; count += 1) {
        happens(0, {}, first + 1);
      }
      const last = happens(0, {}, first + 400);
      const read: TailEntry[] = [];
      while (read.at(-1)?.delivery.id !== last) {
        read.push(await next());
      }
      expect(read.length).toBe(251);
      expect(read.map(({ skipped }) => skipped)).toEqual([...Array(250).fill(0), 1_050]);
    },
  );

  test('that has more to tell ends when the watcher hangs up', async () => {
    const { hangUp, tail, happens, next } = watching();
    for (let count = 0; count < 5; count += 1) {
      happens(0);
    }
    await next();
    hangUp.abort();
    await expect(tail.next()).resolves.toMatchObject({ done: true });
  });
});

test('a tail that waits ends at once when the watcher hangs up', async () => {
  const hangUp = new AbortController();
  const rows = logEntryRows([], Date.now);
  const looked = new Promise<void>((resolve) => {
    const { happenedIn } = rows;
    rows.happenedIn = (...range) => happenedIn(...range).finally(resolve);
  });
  const options = { rows, clock: Date.now, signal: hangUp.signal };
  let isOver = false;
  const end = tailDeliveries({ eventTypes: [] }, undefined, options)
    .next()
    .finally(() => {
      isOver = true;
    });
  await looked;
  // What follows the look until the wait takes no more than a turn.
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  hangUp.abort();
  // The end of the wait by its timer would come in a later turn.
  await new Promise(setImmediate);
  expect(isOver).toBe(true);
  await expect(end).resolves.toMatchObject({ done: true });
});
