import { describe, expect, test } from '@jest/globals';
import {
  agreedTime,
  type ExpiringKind,
  type PurgeStore,
  purgeExpired,
  purgeLags,
} from '../../../src/domain/maintenance/purge.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { fakeClock, oneClock } from '../clock.js';

const DAY_MS = 86_400_000;

const RETENTION = {
  credentialsMs: 90 * DAY_MS,
  sessionIdleMs: DAY_MS / 2,
  idempotencyMs: 7,
  auditMs: 365 * DAY_MS,
  eventsMs: 30 * DAY_MS,
};

function storeHolding(
  held: Partial<Record<ExpiringKind, number>>,
  failing: Partial<Record<ExpiringKind, Error>> = {},
) {
  const asked: { kind: ExpiringKind; overBefore: number; limit: number }[] = [];
  const left = { ...held };
  const remove = async (kind: ExpiringKind, overBefore: number, limit: number) => {
    asked.push({ kind, overBefore, limit });
    if (failing[kind]) {
      throw failing[kind];
    }
    const count = Math.min(left[kind] ?? 0, limit);
    left[kind] = (left[kind] ?? 0) - count;
    return count;
  };
  const runs: string[] = [];
  const store: PurgeStore = {
    remove,
    begin: async (run, now, until) => {
      expect(until).toBe(now + 60_000);
      return (runs[0] ?? run) === run && runs.splice(0, 1, run).length < 2;
    },
    end: async (run) => {
      expect(runs).toEqual([run]);
      runs.length = 0;
    },
    oldest: async () => ({}),
  };
  return { asked, store, runs };
}

describe('a purge', () => {
  test('removes what was over longer ago than it is kept, each kind by its own time', async () => {
    const { store, asked } = storeHolding({});
    const { now } = fakeClock();
    await purgeExpired(store, RETENTION, oneClock(now), { limit: 500 });
    const kept = Object.fromEntries(asked.map(({ kind, overBefore }) => [kind, now() - overBefore]));
    expect(kept).toEqual({
      session: 0,
      idle_session: DAY_MS / 2,
      interaction: DAY_MS / 24,
      authorization_code: DAY_MS,
      code_minute: DAY_MS,
      grant: DAY_MS,
      link: DAY_MS,
      email_change: DAY_MS,
      account_notice: 90 * DAY_MS,
      integration_notice: 90 * DAY_MS,
      attempt_count: 0,
      idempotency_key: 7,
      audit_event: 365 * DAY_MS,
      signing_key: 90 * DAY_MS,
      api_key: 365 * DAY_MS,
      service_token: 365 * DAY_MS,
      application_secret: 365 * DAY_MS,
      delivery: 30 * DAY_MS,
      retry_batch: 30 * DAY_MS,
      event: 30 * DAY_MS,
      subscription: 30 * DAY_MS,
      subscription_secret: 0,
    });
  });

  test('removes deliveries before the events and subscriptions that they refer to', async () => {
    const { store, asked } = storeHolding({});
    await purgeExpired(store, RETENTION, oneClock(fakeClock().now), { limit: 500 });
    const order = asked.map(({ kind }) => kind);
    for (const kind of ['retry_batch', 'event', 'subscription'] as const) {
      expect(order.indexOf('delivery')).toBeLessThan(order.indexOf(kind));
    }
  });

  test.each<[held: Partial<Record<ExpiringKind, number>>, removed: object, more: boolean]>([
    [{}, {}, false],
    [{ session: 9 }, { session: 9 }, false],
    [{ session: 4, grant: 5 }, { session: 4, grant: 5 }, false],
    [{ session: 10 }, { session: 10 }, true],
    [{ service_token: 10 }, { service_token: 10 }, true],
    [{ session: 4, grant: 3, service_token: 3 }, { session: 4, grant: 3, service_token: 3 }, true],
    [{ session: 4, grant: 30, service_token: 3 }, { session: 4, grant: 6 }, true],
  ])('of %j removes at most ten over all kinds: %j, perhaps more: %j', async (held, removed, more) => {
    const { store } = storeHolding(held);
    await expect(purgeExpired(store, RETENTION, oneClock(fakeClock().now), { limit: 10 })).resolves.toEqual({
      removed,
      more,
      isLeftToOther: false,
    });
  });

  test('that is repeated while there may be more removes everything, and no batch is too large', async () => {
    const held = { idle_session: 25, link: 1, audit_event: 17, api_key: 7 };
    const { store } = storeHolding(held);
    const batches: number[] = [];
    let more = true;
    while (more) {
      const report = await purgeExpired(store, RETENTION, oneClock(fakeClock().now), { limit: 10 });
      batches.push(Object.values(report.removed).reduce((sum, count) => sum + count, 0));
      more = report.more;
    }
    expect(batches).toEqual([10, 10, 10, 10, 10, 0]);
  });

  test('that fails at one kind removes all others first, counts them, and then fails with the reason', async () => {
    const unreadable = new Error('the page cannot be read');
    const { store, runs } = storeHolding({ session: 4, delivery: 9, event: 5 }, { audit_event: unreadable });
    const counted: unknown[] = [];
    const purge = () =>
      purgeExpired(store, RETENTION, oneClock(fakeClock().now), {
        ...{ limit: 10, run: 'run' },
        onRemoved: (...count) => counted.push(count),
      });
    await expect(purge()).resolves.toEqual({
      ...{ removed: { session: 4, delivery: 6 }, more: true, isLeftToOther: false },
    });
    await expect(purge()).rejects.toBe(unreadable);
    expect(counted).toEqual([
      ['session', 4],
      ['delivery', 6],
      ['delivery', 3],
      ['event', 5],
    ]);
    expect(runs).toEqual(['run']);
  });

  test('that fails at both kinds of one table removes the others', async () => {
    const unreadable = new Error('the page cannot be read');
    const failing = { session: unreadable, idle_session: unreadable };
    const { store } = storeHolding({ delivery: 3, event: 5 }, failing);
    const counted: unknown[] = [];
    const onRemoved = (...count: unknown[]) => counted.push(count);
    const purge = purgeExpired(store, RETENTION, oneClock(fakeClock().now), { limit: 10, onRemoved });
    await expect(purge).rejects.toBe(unreadable);
    expect(counted).toEqual([
      ['delivery', 3],
      ['event', 5],
    ]);
  });

  test('ends at the third kind at which it fails, as while the database is away', async () => {
    const away = new Error('the database is away');
    const { store, asked } = storeHolding({}, { session: away, idle_session: away, interaction: away });
    const purge = purgeExpired(store, RETENTION, oneClock(fakeClock().now), { limit: 10 });
    await expect(purge).rejects.toBe(away);
    expect(asked).toHaveLength(3);
  });

  test('that another run is ahead of removes nothing, and goes on when that run has found no more', async () => {
    const { store, asked } = storeHolding({ session: 15 });
    const purge = (run: string) =>
      purgeExpired(store, RETENTION, oneClock(fakeClock().now), { limit: 10, run });
    await expect(purge('one')).resolves.toMatchObject({ more: true, isLeftToOther: false });
    const before = asked.length;
    await expect(purge('other')).resolves.toEqual({ removed: {}, more: false, isLeftToOther: true });
    expect(asked).toHaveLength(before);
    await expect(purge('one')).resolves.toMatchObject({ removed: { session: 5 }, more: false });
    await expect(purge('other')).resolves.toMatchObject({ removed: {}, isLeftToOther: false });
  });
});

describe('a purge with the clock of a database and that of its machine', () => {
  const MINUTE_MS = 60_000;

  function apart() {
    const { store, asked, runs } = storeHolding({ audit_event: 1 });
    const [there, here] = [fakeClock(), fakeClock()];
    const told: unknown[] = [];
    const clocks = {
      clock: there.now,
      removalTime: agreedTime(there.now, here.now, (apartMs) => told.push(apartMs)),
    };
    return { there, here, asked, runs, told, purge: () => purgeExpired(store, RETENTION, clocks, BATCH) };
  }
  const BATCH = { limit: 10, run: 'run' };

  test.each(['there', 'here'] as const)(
    'removes what is over by the earlier one, if that %s is ahead',
    async (ahead) => {
      const { there, here, purge, asked } = apart();
      const { now } = ahead === 'there' ? here : there;
      (ahead === 'there' ? there : here).advance(5 * MINUTE_MS);
      await expect(purge()).resolves.toMatchObject({ removed: { audit_event: 1 } });
      expect(asked.find(({ kind }) => kind === 'audit_event')?.overBefore).toBe(now() - RETENTION.auditMs);
    },
  );

  test.each([
    ['there', 400 * DAY_MS],
    ['there', -400 * DAY_MS],
    ['here', 400 * DAY_MS],
    ['here', 5 * MINUTE_MS + 1],
  ] as const)('removes nothing, and tells it once, while that %s differs by %i ms', async (which, byMs) => {
    const { purge, asked, runs, told, ...clocks } = apart();
    clocks[which].advance(byMs);
    for (let batch = 0; batch < 2; batch += 1) {
      await expect(purge()).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
    }
    expect([asked, runs, told]).toEqual([[], [], [Math.abs(byMs)]]);
    clocks[which].advance(-byMs);
    await expect(purge()).resolves.toMatchObject({ removed: { audit_event: 1 } });
    expect(told).toEqual([Math.abs(byMs), undefined]);
  });
});

test('the lag of a purge is how long the oldest row of each kind is past its retention', async () => {
  const { now } = fakeClock();
  const oldest: Partial<Record<ExpiringKind, number>> = {
    session: now() - 5_000,
    event: now() - 30 * DAY_MS - 7_000,
  };
  const lags = await purgeLags({ oldest: async () => oldest }, RETENTION, now);
  expect(lags).toMatchObject({ session: 5_000, event: 7_000, delivery: 0 });
  expect(Object.keys(lags)).toHaveLength(22);
});
