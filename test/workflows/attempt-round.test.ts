import { describe, expect, test } from '@jest/globals';
import { attemptRound } from '../../workflows/activities/attempt-round.js';
import type { RetryDependencies } from '../../workflows/activities/retry-ports.js';
import { SendSlots } from '../../workflows/activities/send-slots.js';
import { RetryDomain, type Settings } from './retry-domain.js';
import { eventually } from './temporal-fixture.js';

const ids = (count: number) => Array.from({ length: count }, (_, index) => `whd_${index}`);

function roundOf(count: number, options: Partial<Settings> = {}) {
  const domain = new RetryDomain(options);
  for (const deliveryId of ids(count)) domain.add('bat_1', { deliveryId });
  const cut = new AbortController();
  const run = (more: Partial<RetryDependencies> & { slots?: SendSlots; mayBegin?: () => boolean } = {}) => {
    const dependencies = domain.dependencies(more);
    return attemptRound(
      ids(count).map((deliveryId) => ({ deliveryId, attemptNumber: 2 })),
      {
        ...dependencies,
        slots: more.slots ?? new SendSlots(dependencies.sends),
        subscriptionId: 'whs_1',
        call: { requestId: 'test', signal: new AbortController().signal },
        mayBegin: more.mayBegin ?? (() => true),
        cut: cut.signal,
      },
    );
  };
  return { domain, cut, run };
}

/** A receiver whose answers the test gives, one after the other. */
function slowReceiver(domain: RetryDomain) {
  const open: ((status: number) => void)[] = [];
  let most = 0;
  domain.receiver = () =>
    new Promise((resolve) => {
      open.push(resolve);
      most = Math.max(most, open.length);
    });
  return { answer: () => open.shift()?.(204), open, most: () => most };
}

describe('a round of attempts', () => {
  test('makes no more at once than there are send slots', async () => {
    const { domain, run } = roundOf(7);
    const receiver = slowReceiver(domain);
    const round = run({ sends: { atOnce: 100, atOncePerSubscription: 3 } });
    for (let answers = 0; answers < 7; answers++) {
      await eventually('an open attempt', () => receiver.open.length === Math.min(3, 7 - answers));
      receiver.answer();
    }
    expect((await round).states).toHaveLength(7);
    expect(receiver.most()).toBe(3);
  });

  test('leaves all to a later round where others hold the slots of the subscription, and holds up no other', async () => {
    const slots = new SendSlots({ atOnce: 3, atOncePerSubscription: 2 }, 20);
    expect([slots.tryTake('whs_1'), slots.tryTake('whs_1'), slots.tryTake('whs_1')]).toEqual([
      true,
      true,
      false,
    ]);
    const { domain, run } = roundOf(2);
    expect(await run({ slots })).toEqual({ states: [], failed: [] });
    expect(domain.sent).toEqual([]);
    expect([slots.tryTake('whs_2'), slots.tryTake('whs_2')]).toEqual([true, false]);
    slots.give('whs_1');
    expect((await run({ slots })).states).toHaveLength(2);
  });

  test('waits its turn for a slot that others hold for a moment only', async () => {
    const slots = new SendSlots({ atOnce: 1, atOncePerSubscription: 1 });
    const [first, second] = [roundOf(2), roundOf(2)];
    const receiver = slowReceiver(first.domain);
    const rounds = [first.run({ slots }), second.run({ slots })];
    for (let answers = 0; answers < 2; answers++) {
      await eventually('an open attempt', () => receiver.open.length > 0);
      receiver.answer();
    }
    expect((await Promise.all(rounds)).map(({ states }) => states.length)).toEqual([2, 2]);
  });

  test('leaves what it cannot begin in its time to a later round, and gives its slots back', async () => {
    const { domain, run } = roundOf(5);
    const slots = new SendSlots({ atOnce: 2, atOncePerSubscription: 2 });
    const { states } = await run({ slots, mayBegin: () => domain.sent.length < 1 });
    expect(states).toHaveLength(2);
    expect(domain.sent).toHaveLength(2);
    expect([slots.tryTake('whs_1'), slots.tryTake('whs_1'), slots.tryTake('whs_1')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('records what it sent although the domain is away for a while, and sends nothing twice', async () => {
    const { domain, run } = roundOf(1);
    let losses = 2;
    domain.fault = (method) => (method === 'recordAttempt' && losses-- > 0 ? 'before' : undefined);
    expect((await run()).states).toMatchObject([{ status: 'DELIVERED', lastAttempt: 'answered 204' }]);
    expect(domain.sent).toHaveLength(1);
  });

  test('keeps a result until it is recorded, long after the lease, and its slot with it', async () => {
    const { domain, run } = roundOf(1, { leaseMs: 100 });
    const slots = new SendSlots({ atOnce: 1, atOncePerSubscription: 1 });
    let isAway = true;
    let told = 0;
    domain.fault = (method) => (method === 'recordAttempt' && ++told && isAway ? 'before' : undefined);
    const round = run({ slots });
    await eventually('the lease is over', () => told > 2);
    expect(slots.tryTake('whs_1')).toBe(false);
    isAway = false;
    expect((await round).states).toMatchObject([{ status: 'DELIVERED' }]);
    expect(domain.sent).toHaveLength(1);
    expect(slots.tryTake('whs_1')).toBe(true);
  });

  test.each([
    { title: 'the worker ends', ending: AbortSignal.abort(), fault: 'before' as const },
    { title: 'the domain refuses it', ending: new AbortController().signal, fault: 'refused' as const },
  ])('gives a result up when the lease is over and $title', async ({ ending, fault }) => {
    const { domain, run } = roundOf(1, { leaseMs: 300 });
    domain.fault = (method) => (method === 'recordAttempt' ? fault : undefined);
    await expect(run({ ending })).rejects.toThrow();
    await eventually('the lease is over', () => Date.now() > (domain.rows.get('whd_0')?.leaseUntil ?? 0));
    domain.fault = () => undefined;
    const { states } = await run();
    expect(states).toMatchObject([{ attemptsBegun: 2, status: 'PENDING', lastAttempt: null }]);
    expect(domain.interrupted).toEqual([{ deliveryId: 'whd_0', attemptNumber: 2 }]);
    expect(domain.attemptsAt('whd_0')).toEqual([2]);
  });

  test('names those at which the domain failed, and makes the others', async () => {
    const { domain, run } = roundOf(4);
    let begun = 0;
    domain.fault = (method) => (method === 'beginAttempt' && ++begun === 2 ? 'before' : undefined);
    const { states, failed } = await run({ sends: { atOnce: 1, atOncePerSubscription: 1 } });
    expect(states.map(({ deliveryId }) => deliveryId)).toEqual(['whd_0', 'whd_2', 'whd_3']);
    expect(failed).toEqual([{ deliveryId: 'whd_1', attemptNumber: 2 }]);
  });

  test('fails where it achieves nothing else', async () => {
    const { domain, run } = roundOf(2);
    domain.fault = () => 'before';
    await expect(run()).rejects.toThrow('14 UNAVAILABLE');
  });

  test.each([
    { title: 'was begun already', row: { attemptsBegun: 2 }, state: { attemptsBegun: 2, isUnderWay: false } },
    {
      title: 'must wait for a lease',
      row: { leaseUntil: Date.now() + 60_000 },
      state: { attemptsBegun: 1, isUnderWay: true, nextAttemptAt: null },
    },
    { title: 'has ended', row: { status: 'HELD' as const }, state: { status: 'HELD', waitMs: 0 } },
  ])('sends nothing where the delivery $title, and tells how far it is', async ({ row, state }) => {
    const { domain, run } = roundOf(1);
    Object.assign(domain.rows.get('whd_0') ?? {}, { nextAttemptAt: undefined }, row);
    expect((await run()).states).toMatchObject([state]);
    expect(domain.sent).toEqual([]);
  });

  test('tells of a delivery that was purged, before or while it was sent', async () => {
    const { domain, run } = roundOf(2);
    domain.rows.delete('whd_0');
    domain.receiver = () => {
      domain.rows.clear();
      return 204;
    };
    expect((await run()).states).toMatchObject([
      { deliveryId: 'whd_0', status: 'GONE' },
      { deliveryId: 'whd_1', status: 'GONE', lastAttempt: null },
    ]);
  });

  test('records how attempts ended that were cut off', async () => {
    const { domain, cut, run } = roundOf(1);
    domain.receiver = (_, signal) =>
      new Promise((resolve) => signal?.addEventListener('abort', () => resolve('INTERRUPTED')));
    const round = run();
    await eventually('an attempt under way', () => domain.sent.length === 1);
    cut.abort();
    expect((await round).states).toMatchObject([
      { status: 'PENDING', attemptsBegun: 2, lastAttempt: 'interrupted' },
    ]);
  });
});
