import { describe, expect, test } from '@jest/globals';
import { attemptRound } from '../../workflows/activities/webhook-retry.js';
import { RetryDomain, type Settings } from './retry-domain.js';

const ids = (count: number) => Array.from({ length: count }, (_, index) => `whd_${index}`);

function roundOf(count: number, options: Partial<Settings> = {}) {
  const domain = new RetryDomain({ delaysMs: [3_600_000, 3_600_000], ...options });
  for (const deliveryId of ids(count)) {
    domain.add('bat_1', { deliveryId });
  }
  const attempts = ids(count).map((deliveryId) => ({ deliveryId, attemptNumber: 2 }));
  const run = () =>
    attemptRound(attempts, domain.domain, { requestId: 'test', signal: new AbortController().signal });
  return { domain, attempts, run };
}

describe('a round of attempts', () => {
  test('has all made now, whenever they were due, and the next one tells how they ended', async () => {
    const { domain, attempts, run } = roundOf(2);
    domain.receiver = ({ deliveryId }) => (deliveryId === 'whd_0' ? 204 : 503);
    expect(await run()).toEqual({ states: [], failed: attempts });
    const { states, failed } = await run();
    expect(failed).toEqual([]);
    expect(states).toMatchObject([
      { deliveryId: 'whd_0', status: 'DELIVERED', attemptsBegun: 2, lastAttempt: 'answered 204', waitMs: 0 },
      { deliveryId: 'whd_1', status: 'PENDING', attemptsBegun: 2, lastAttempt: 'answered 503' },
    ]);
    expect(states[1]?.waitMs).toBeGreaterThan(3_000_000);
    expect(domain.sent).toHaveLength(2);
  });

  test('waits neither for a receiver nor for room, and names what has not ended', async () => {
    const { domain, attempts, run } = roundOf(3, { sends: 1 });
    domain.receiver = () => new Promise(() => undefined);
    Object.assign(domain.rows.get('whd_1') ?? {}, { status: 'HELD' });
    const { states, failed } = await run();
    expect(states).toMatchObject([{ deliveryId: 'whd_1', status: 'HELD' }]);
    expect(failed).toEqual([attempts[0], attempts[2]]);
    expect([...domain.rows.values()].map(({ isDue }) => isDue)).toEqual([false, false, true]);
    expect(domain.sent).toHaveLength(1);
  });

  test.each([
    {
      title: 'was attempted already',
      row: { attemptsBegun: 2 },
      state: { attemptsBegun: 2, isUnderWay: false },
    },
    {
      title: 'is past this attempt',
      row: { attemptsBegun: 3, leaseUntil: Date.now() + 60_000 },
      state: { attemptsBegun: 3, isUnderWay: true, nextAttemptAt: null },
    },
    { title: 'has ended', row: { status: 'HELD' as const }, state: { status: 'HELD', waitMs: 0 } },
  ])('has nothing made where the delivery $title, and tells how far it is', async ({ row, state }) => {
    const { domain, run } = roundOf(1);
    Object.assign(domain.rows.get('whd_0') ?? {}, { nextAttemptAt: undefined }, row);
    expect(await run()).toMatchObject({ states: [state], failed: [] });
    expect(domain.sent).toEqual([]);
  });

  test('leaves an attempt open that comes after one that is under way', async () => {
    const { domain, attempts, run } = roundOf(1);
    const before = { attemptsBegun: 1, leaseUntil: Date.now() + 60_000, nextAttemptAt: undefined };
    Object.assign(domain.rows.get('whd_0') ?? {}, before);
    expect(await run()).toEqual({ states: [], failed: attempts });
    expect(domain.sent).toEqual([]);
  });

  test('tells of deliveries that were purged, before or while they were sent', async () => {
    const { domain, run } = roundOf(2);
    domain.rows.delete('whd_0');
    domain.receiver = () => {
      domain.rows.clear();
      return 500;
    };
    expect((await run()).states).toMatchObject([{ deliveryId: 'whd_0', status: 'GONE' }]);
    expect((await run()).states).toMatchObject([
      { deliveryId: 'whd_0', status: 'GONE' },
      { deliveryId: 'whd_1', status: 'GONE', lastAttempt: null },
    ]);
  });
});
