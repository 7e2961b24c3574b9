import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type BetterSqlite3 from 'better-sqlite3';
import type { ClaimRequest } from '../../../../../src/domain/webhooks/sending/claims/claim.js';
import { DeliveryClaims } from '../../../../../src/domain/webhooks/sending/claims/claims.js';
import { Sqlite } from '../../../../../src/store/better-sqlite3.js';
import { fakeClock } from '../../../../domain/clock.js';
import { databaseUnderTest, describeEachDatabase } from '../../../../support/databases.js';
import { eventually } from '../../../../support/eventually.js';
import { newConnection } from '../subscriptions/rig.js';
import {
  LEASE_MS,
  NEVER,
  PATIENT,
  refused,
  type SendingNode,
  SWEEP_PAUSE_MS,
  sendingNode,
  sendingRig,
  succeeded,
} from './rig.js';

/** Longer than a test may take: what waits for its end fails. */
const FOREVER_MS = 60_000;
/** So many writes share one commit. */
const GROUP = 128;

/** From now on, the search for lapsed attempts finds nothing until it is ended. */
function endlessSearch({ dependencies }: SendingNode) {
  const { rows } = dependencies.unitOfWork;
  let end: (found?: Awaited<ReturnType<typeof rows.lapsed>>) => void = () => undefined;
  const found = new Promise<Awaited<ReturnType<typeof rows.lapsed>>>((resolve) => {
    end = (lapsed = []) => resolve(lapsed);
  });
  return { search: jest.spyOn(rows, 'lapsed').mockReturnValue(found), end };
}

/** Counts how often claims begin to wait from now on. */
function waitsAt({ deliveriesDue }: SendingNode) {
  const waits = { count: 0 };
  const news = deliveriesDue.news.bind(deliveriesDue);
  deliveriesDue.news = (...parameters) => {
    waits.count += 1;
    return news(...parameters);
  };
  return waits;
}

describeEachDatabase('a claim with nothing due', (under) => {
  test('waits until something is, recorded here', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const waiting = rig.claim({ maxWaitMs: FOREVER_MS });
    await rig.happen();
    expect((await waiting).deliveries).toHaveLength(1);
  });

  test('waits until something is, recorded on another node', async () => {
    const rig = await sendingRig(under);
    const other = sendingNode(rig.database, rig.connection, rig.clock);
    await rig.subscribe();
    const waiting = rig.claim({ maxWaitMs: FOREVER_MS });
    await other.happen();
    expect((await waiting).deliveries).toHaveLength(1);
    expect(rig.deliveriesDue.count).toBe(0);
  });

  test('is over with nothing when its time is', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    expect((await rig.claim({ maxWaitMs: 5 })).deliveries).toEqual([]);
  });

  test('leaves nothing behind with a caller who continues to ask', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const { signal } = new AbortController();
    const waiting = rig.claim({ maxWaitMs: FOREVER_MS }, signal);
    await rig.happen();
    await waiting;
    await rig.claim({ maxWaitMs: 5 }, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('whose caller hangs up during its commit costs no attempt', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    const later = await rig.claimOne();
    await rig.record(refused(later));
    rig.clock.advance(30_000);
    await rig.happen();
    const caller = new AbortController();
    const { run } = rig.dependencies.unitOfWork;
    jest.spyOn(rig.dependencies.unitOfWork, 'run').mockImplementationOnce(async (work, options) => {
      const done = await run(work, options);
      caller.abort();
      return done;
    });
    expect(await rig.claim({}, caller.signal)).toMatchObject({ deliveries: [] });
    const begun = (await rig.deliveries()).map(({ attempts_begun, lease_until }) => [
      attempts_begun,
      lease_until,
    ]);
    expect(begun).toEqual([
      [1, null],
      [0, null],
    ]);
    const { deliveries } = await rig.claim();
    expect(deliveries.map(({ number }) => number).sort()).toEqual([1, 2]);
  });

  test('is over when its caller hangs up, and leaves to the next what it was woken for', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const caller = new AbortController();
    const waits = waitsAt(rig);
    const given = rig.claim({ maxWaitMs: FOREVER_MS }, caller.signal);
    await eventually('a claim that waits', () => waits.count > 0);
    const patient = rig.claim({ maxWaitMs: FOREVER_MS });
    caller.abort();
    await rig.happen();
    expect((await given).deliveries).toEqual([]);
    expect((await patient).deliveries).toHaveLength(1);
  });

  test.each([
    ['its caller leaves', (_: SendingNode, caller: AbortController) => caller.abort()],
    ['the domain stops', ({ deliveriesDue }: SendingNode) => deliveriesDue.close()],
  ])('begins nothing when %s while the claim waits for its turn', async (_, end) => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { run } = rig.dependencies.unitOfWork;
    const running = new Promise<void>((resolve) => {
      rig.dependencies.unitOfWork.run = () =>
        run(async () => {
          resolve();
          await released;
          throw new Error('This write is rolled back.');
        });
    });
    const first = rig.claim().catch(() => 'failed');
    await running;
    rig.dependencies.unitOfWork.run = run;
    const caller = new AbortController();
    const second = rig.claim({ maxWaitMs: FOREVER_MS }, caller.signal);
    // Nothing that it does before its turn takes longer.
    await nextTurn();
    end(rig, caller);
    release();
    expect(await first).toBe('failed');
    expect((await second).deliveries).toEqual([]);
    expect(await rig.deliveries()).toMatchObject([{ attempts_begun: 0, lease_until: null }]);
  });

  test('begins nothing for a caller who leaves while another write runs', async () => {
    const rig = await sendingRig(under);
    const subscription = await rig.subscribe();
    await rig.happen();
    const { run } = rig.dependencies.unitOfWork;
    const caller = new AbortController();
    let claiming: Promise<unknown> = Promise.resolve();
    await run(async (changes) => {
      await changes.claimAlone([subscription]);
      const waits = new Promise<void>((resolve) => {
        rig.dependencies.unitOfWork.run = (work, options) => {
          resolve();
          return run(work, options);
        };
      });
      claiming = rig.claim({ maxWaitMs: FOREVER_MS }, caller.signal);
      await waits;
      caller.abort();
    });
    expect(await claiming).toMatchObject({ deliveries: [] });
    expect(await rig.deliveries()).toMatchObject([{ attempts_begun: 0, lease_until: null }]);
    expect((await rig.claim()).deliveries).toHaveLength(1);
  });

  test('brings what is due although lapsed attempts cannot be recorded, and records them later', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    const lapsed = await rig.claimOne();
    rig.clock.advance(LEASE_MS + 1);
    await rig.happen();
    const { rows } = rig.dependencies.unitOfWork;
    const fault = new Error('This row is locked.');
    const look = jest.spyOn(rows, 'lapsed').mockRejectedValueOnce(fault);
    expect((await rig.claim()).deliveries).toHaveLength(1);
    expect(rig.unswept).toEqual([fault]);
    look.mockRestore();
    rig.clock.advance(SWEEP_PAUSE_MS);
    await rig.claim();
    expect(await rig.attempts(lapsed)).toMatchObject([{ outcome: 'INTERRUPTED' }]);
  });

  test('does not wait for a sweep of lapsed attempts beyond its own time', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.claim();
    rig.clock.advance(SWEEP_PAUSE_MS);
    const { search, end } = endlessSearch(rig);
    const request = { freeSlots: 9, totalSlots: 9, maxRunningPerSubscription: 9, maxWaitMs: 5 };
    expect((await rig.claims.claim(request, PATIENT)).deliveries).toEqual([]);
    await rig.happen();
    expect((await rig.claims.claim(request, PATIENT)).deliveries).toHaveLength(1);
    expect(search).toHaveBeenCalledTimes(1);
    end();
  });

  test('is woken by a sweep that ended attempts, whose room it may take', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    await rig.claimOne();
    const { count } = rig.deliveriesDue;
    for (const wakes of [1, 1]) {
      rig.clock.advance(LEASE_MS + 1);
      await rig.claim();
      expect(rig.deliveriesDue.count).toBe(count + wakes);
    }
  });

  test('is over when the domain stops, also before the first sweep has ended', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    const { search, end } = endlessSearch(rig);
    const claim = rig.claims.claim(
      { freeSlots: 9, totalSlots: 9, maxRunningPerSubscription: 9, maxWaitMs: FOREVER_MS },
      PATIENT,
    );
    await eventually('a sweep', () => search.mock.calls.length > 0);
    rig.deliveriesDue.close();
    expect((await claim).deliveries).toEqual([]);
    end();
  });

  test('leaves its wake to another one when it fails', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const { deliveriesDue, dependencies } = rig;
    const news = jest.spyOn(deliveriesDue, 'news');
    const claims = new DeliveryClaims(dependencies, NEVER);
    const request = { freeSlots: 9, totalSlots: 9, maxRunningPerSubscription: 9, maxWaitMs: FOREVER_MS };
    const outcomes = [1, 2].map(() => claims.claim(request, PATIENT).catch((error: Error) => error.message));
    await eventually('claims that wait', () => news.mock.calls.length === 2);
    const run = jest
      .spyOn(dependencies.unitOfWork, 'run')
      .mockRejectedValueOnce(new Error('This look fails.'));
    await rig.happen();
    expect(await Promise.all(outcomes)).toMatchObject(['This look fails.', { deliveries: [{}] }]);
    run.mockRestore();
  });

  test('passes on no wake when it fails without one', async () => {
    const rig = await sendingRig(under);
    await rig.claim();
    const { deliveriesDue, dependencies } = rig;
    const look = jest
      .spyOn(dependencies.unitOfWork.rows, 'dueSubscriptions')
      .mockRejectedValue(new Error('This look fails.'));
    await expect(rig.claim()).rejects.toThrow('This look fails.');
    expect(deliveriesDue.count).toBe(0);
    deliveriesDue.wakeByOther();
    await expect(rig.claim()).rejects.toThrow('This look fails.');
    expect(deliveriesDue.count).toBe(2);
    look.mockRestore();
  });

  test('is over when nothing more is handed out, and so are those after it, whatever is due', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const waits = waitsAt(rig);
    const waiting = [rig.claim({ maxWaitMs: FOREVER_MS }), rig.claim({ maxWaitMs: FOREVER_MS })];
    await eventually('claims that wait', () => waits.count >= 2);
    rig.deliveriesDue.close();
    for (const claim of await Promise.all(waiting)) {
      expect(claim.deliveries).toEqual([]);
    }
    await rig.happen();
    expect((await rig.claim({ maxWaitMs: FOREVER_MS })).deliveries).toEqual([]);
    expect(await rig.deliveries()).toMatchObject([{ attempts_begun: 0 }]);
  });

  test('wakes the next one when it could not take all', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const waiting = Array.from({ length: 3 }, () => rig.claim({ freeSlots: 2, maxWaitMs: FOREVER_MS }));
    await rig.platform.run(async (changes) => {
      for (let index = 0; index < 6; index += 1) {
        const links = { self: '/v1/instance-integrations/{instanceIntegrationId}' };
        const { instanceId, clientId } = rig.connection;
        const entity = { type: 'user', id: `usr_${index}` };
        await changes.recordEvent({
          type: 'user.updated',
          instanceId,
          clientId,
          entity,
          data: { links },
        } as never);
      }
    });
    const claims = await Promise.all(waiting);
    expect(claims.map(({ deliveries }) => deliveries.length)).toEqual([2, 2, 2]);
  });

  test('takes a lease that is over for an attempt that failed', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    const id = await rig.claimOne();
    const startedAt = rig.clock.now();
    rig.clock.advance(LEASE_MS - 1);
    await rig.claim();
    expect(await rig.attempts(id)).toEqual([]);
    rig.clock.advance(SWEEP_PAUSE_MS + 1);
    await rig.claim();
    expect(await rig.attempts(id)).toMatchObject([
      {
        ...{ number: 1, outcome: 'INTERRUPTED', started_at: startedAt, ended_at: rig.clock.now() },
        ...{ duration_ms: null, http_status: null, response_start: null },
        message: expect.stringMatching(/lost.*unknown whether/),
      },
    ]);
    expect(await rig.delivery(id)).toMatchObject({
      ...{ status: 'PENDING', attempts_begun: 1, lease_until: null, attempt_started_at: null },
      next_attempt_at: rig.clock.now() + 30_000,
      retry_batch_id: expect.stringMatching(/^bat_/),
    });
  });
});

describe('attempts that end', () => {
  const under = databaseUnderTest('SQLite');

  test('wake a claim that was held back, and no other', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    await rig.happen();
    const { deliveries } = await rig.claim({ maxRunningPerSubscription: 1 });
    const before = rig.deliveriesDue.count;
    await rig.record(succeeded(deliveries[0]?.id as never));
    expect(rig.deliveriesDue.count).toBe(before + 1);
    const next = await rig.claims.claim(
      { freeSlots: 9, totalSlots: 9, maxRunningPerSubscription: 9, maxWaitMs: 0 },
      PATIENT,
    );
    await rig.record(refused(next.deliveries[0]?.id as never));
    expect(rig.deliveriesDue.count).toBe(before + 1);
  });
});

describe('the pause before the next look', () => {
  const under = databaseUnderTest('SQLite');
  const PAUSES = { lookMs: 7, notifiedMs: 10_000, lockedMs: 7 };

  /** How long the claim of a node waits where nothing is due. */
  async function pauseOf({ claim, deliveriesDue }: SendingNode): Promise<number> {
    const caller = new AbortController();
    const news = jest.spyOn(deliveriesDue, 'news');
    const paused = new Promise<number>((resolve) => {
      news.mockImplementationOnce(async (_, pauseMs) => {
        caller.abort();
        resolve(pauseMs);
      });
    });
    await claim({ maxWaitMs: FOREVER_MS }, caller.signal);
    return paused;
  }

  async function node(settings = {}) {
    const database = await under.openMigrated();
    const rig = sendingNode(database, await newConnection(database), fakeClock(), settings, PAUSES);
    await rig.subscribe();
    return rig;
  }

  test('is short as long as other nodes do not wake this one', async () => {
    const rig = await node();
    expect(await pauseOf(rig)).toBe(PAUSES.lookMs);
    rig.deliveriesDue.setNotified(true);
    expect(await pauseOf(rig)).toBe(PAUSES.notifiedMs);
    rig.deliveriesDue.setNotified(false);
    expect(await pauseOf(rig)).toBe(PAUSES.lookMs);
  });

  test('is short while a retry becomes due in the long one', async () => {
    const rig = await node({ retryDelaysMs: [3 * PAUSES.notifiedMs, 3 * PAUSES.notifiedMs] });
    rig.deliveriesDue.setNotified(true);
    await rig.happen();
    await rig.record(refused(await rig.claimOne()));
    expect(await pauseOf(rig)).toBe(PAUSES.notifiedMs);
    rig.clock.advance(2 * PAUSES.notifiedMs);
    expect(await pauseOf(rig)).toBe(PAUSES.lookMs);
  });

  test('is short where retry delays may begin and end in the long one', async () => {
    const rig = await node({ retryDelaysMs: [PAUSES.notifiedMs, 300_000] });
    rig.deliveriesDue.setNotified(true);
    expect(await pauseOf(rig)).toBe(PAUSES.lookMs);
  });
});

describe('a claim that is woken before the commit of what it is woken for', () => {
  const under = databaseUnderTest('SQLite');

  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  /** A rig that counts the commits of its database, and of which a commit can be made to fail. */
  async function watched() {
    const commits = { tried: 0, fault: undefined as Error | undefined };
    const { prepare } = Sqlite.prototype;
    jest.spyOn(Sqlite.prototype, 'prepare').mockImplementation(function (
      this: BetterSqlite3.Database,
      source,
    ) {
      const statement = prepare.call(this, source);
      if (source === 'commit') {
        const run = statement.run.bind(statement) as () => BetterSqlite3.RunResult;
        statement.run = () => {
          commits.tried += 1;
          const { fault } = commits;
          commits.fault = undefined;
          if (fault) {
            throw fault;
          }
          return run();
        };
      }
      return statement;
    } as typeof prepare);
    return { ...(await sendingRig(under)), commits };
  }

  /** A waiting claim that no longer looks by itself. */
  async function waitingClaim({ deliveriesDue, claim }: SendingNode, request: Partial<ClaimRequest> = {}) {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    const news = jest.spyOn(deliveriesDue, 'news');
    const waits = new Promise<void>((resolve) => {
      news.mockImplementationOnce((...parameters) => {
        news.mockRestore();
        const told = deliveriesDue.news(...parameters);
        resolve();
        return told;
      });
    });
    const waiting = claim({ maxWaitMs: FOREVER_MS, ...request });
    await waits;
    return { waiting };
  }

  test('shares that commit', async () => {
    const { commits, ...rig } = await watched();
    await rig.subscribe();
    const { waiting } = await waitingClaim(rig);
    const before = commits.tried;
    await rig.happen();
    const { deliveries } = await waiting;
    expect(commits.tried).toBe(before + 1);
    expect(deliveries).toHaveLength(1);
    expect(await rig.deliveries()).toMatchObject([{ id: deliveries[0]?.id, attempts_begun: 1 }]);
  });

  test('shares the commit of ended attempts, which make room for it', async () => {
    const { commits, ...rig } = await watched();
    await rig.subscribe();
    await rig.happen();
    const ended = await rig.claimOne();
    await rig.happen();
    const { waiting } = await waitingClaim(rig, { maxRunningPerSubscription: 1 });
    const before = commits.tried;
    await rig.record(succeeded(ended));
    expect((await waiting).deliveries).toHaveLength(1);
    expect(commits.tried).toBe(before + 1);
  });

  test('claims nothing when that commit fails, and no attempt is burnt', async () => {
    const { commits, ...rig } = await watched();
    const other = sendingNode(rig.database, rig.connection, rig.clock);
    await rig.subscribe();
    const { waiting } = await waitingClaim(rig);
    // Due already, which the claim would take along.
    await other.happen();
    const before = commits.tried;
    commits.fault = new Error('disk I/O error');
    const outcomes = await Promise.allSettled([rig.happen(), waiting]);
    expect(outcomes).toMatchObject(
      Array(2).fill({ status: 'rejected', reason: { message: 'disk I/O error' } }),
    );
    expect(commits.tried).toBe(before + 1);
    expect(await rig.deliveries()).toMatchObject([{ attempts_begun: 0, lease_until: null }]);
    const [delivery] = await rig.deliveries();
    expect(await rig.claimOne()).toBe(delivery?.id);
  });

  test('waits on when that commit fails without it, and takes the next', async () => {
    const { commits, ...rig } = await watched();
    await rig.subscribe();
    const { waiting } = await waitingClaim(rig);
    const before = commits.tried;
    commits.fault = new Error('disk I/O error');
    // A full group, for which there is one claim too many.
    const happening = Array.from({ length: GROUP }, () => rig.happen());
    const outcomes = await Promise.allSettled(happening);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    await rig.happen();
    expect((await waiting).deliveries).toHaveLength(1);
    expect(await rig.deliveries()).toMatchObject([{ attempts_begun: 1 }]);
    // That of the events, that of the claim which found nothing, and that of the one event with the claim.
    expect(commits.tried).toBe(before + 3);
  });
});
