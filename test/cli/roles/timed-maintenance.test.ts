import { describe, expect, test } from '@jest/globals';
import {
  startTimedMaintenance,
  startTimersInAbsence,
  type TimedMaintenanceOptions,
} from '../../../src/cli/roles/timed-maintenance.js';
import type { WorkerState } from '../../../workflows/worker-state.js';
import { fakeClock } from '../../domain/clock.js';
import { eventually } from '../../support/eventually.js';
import { recordedLog } from '../../support/recorded-log.js';

const HOUR_MS = 3_600_000;

type Maintenance = TimedMaintenanceOptions['maintenance'];

const idle: Maintenance = {
  purgeExpired: async () => ({ deleted: {}, more: false, otherRunActive: false }),
  advanceSigningKeys: async () => ({ changes: [], nextDueAt: null }),
};

function start(maintenance: Partial<Maintenance>, purgeEveryMs = HOUR_MS) {
  const recorded = recordedLog();
  const options: Omit<TimedMaintenanceOptions, 'log'> = {
    maintenance: { ...idle, ...maintenance },
    purgeEveryMs,
    advanceKeysEveryMs: HOUR_MS,
    purgeInput: { batchesPerRun: 2, batchLimit: 7, restMs: 1 },
  };
  return { ...recorded, timed: startTimedMaintenance({ ...options, log: recorded.log }) };
}

describe('a worker without Temporal', () => {
  test('says so, purges until nothing is left, and advances the keys, all at once', async () => {
    const requestIds: string[] = [];
    const runs: string[] = [];
    let left = 5;
    const { timed, nextLine, lines } = start({
      purgeExpired: async ({ limit, run }, { requestId }) => {
        requestIds.push(requestId);
        runs.push(`${run} ${limit}`);
        left -= 1;
        return {
          deleted: { session: 2, ...(left === 0 && { grant: 1 }) },
          more: left > 0,
          otherRunActive: false,
        };
      },
      advanceSigningKeys: async () => ({ changes: [{ kid: 'k1', step: 'published' }], nextDueAt: null }),
    });
    expect(lines()[0]).toMatchObject({ msg: expect.stringContaining('timers purge'), purgeEveryMs: HOUR_MS });
    await nextLine(({ msg }) => msg === 'purged what was past its retention');
    expect(lines().filter(({ deleted }) => deleted !== undefined)).toMatchObject([
      { msg: 'purged a part of what was past its retention', deleted: { session: 4 } },
      { msg: 'purged a part of what was past its retention', deleted: { session: 4 } },
      { msg: 'purged what was past its retention', deleted: { session: 2, grant: 1 } },
    ]);
    expect(new Set(runs)).toEqual(new Set([expect.stringMatching(/^[0-9a-f-]{36} 7$/)]));
    expect(await nextLine(({ changes }) => changes !== undefined)).toMatchObject({
      changes: [{ kid: 'k1', step: 'published' }],
    });
    expect(new Set(requestIds)).toEqual(new Set([expect.stringMatching(/^timed-purge\/2/)]));
    await timed.stop();
  });

  test('does it again and again', async () => {
    let rounds = 0;
    const { timed } = start(
      {
        purgeExpired: async () => {
          rounds += 1;
          return { deleted: {}, more: false, otherRunActive: false };
        },
      },
      5,
    );
    await eventually('a third purge', async () => rounds >= 3);
    await timed.stop();
  });

  test('leaves the purge to another worker that is at it, and looks again', async () => {
    let rounds = 0;
    const { timed, lines } = start(
      {
        purgeExpired: async () => {
          rounds += 1;
          return { deleted: {}, more: false, otherRunActive: rounds < 3 };
        },
      },
      5,
    );
    await eventually('a look after that worker has ended', async () => rounds >= 3);
    await timed.stop();
    expect(lines().filter(({ level }) => level === 'warn')).toEqual([]);
  });

  test('continues after a failure, which it reports', async () => {
    let rounds = 0;
    const { timed, lines } = start(
      {
        purgeExpired: async () => {
          rounds += 1;
          if (rounds === 1) {
            throw new Error('the domain is away');
          }
          return { deleted: {}, more: false, otherRunActive: false };
        },
      },
      5,
    );
    await eventually('a purge that works', async () => rounds >= 2);
    await timed.stop();
    expect(lines().filter(({ level }) => level === 'warn')).toMatchObject([
      { job: 'purge', reason: 'the domain is away' },
    ]);
  });

  test('ends at once, in the middle of a call too, and reports no failure', async () => {
    const { timed, lines } = start({
      advanceSigningKeys: (call) =>
        new Promise((_, reject) => {
          call.signal.addEventListener('abort', () => reject(new Error('the call was cancelled')));
        }),
    });
    await timed.stop();
    expect(lines().filter(({ level }) => level === 'warn')).toEqual([]);
  });
});

describe('a worker whose Temporal is configured', () => {
  const MINUTE_MS = 60_000;

  function startWithTemporal() {
    const clock = fakeClock();
    const recorded = recordedLog();
    const state = (status: WorkerState['status']): WorkerState => ({
      status,
      since: new Date(clock.now()),
      ...(status !== 'polling' && { awaySince: new Date(clock.now()) }),
    });
    const temporal = { state: state('connecting') };
    const runs: string[] = [];
    let looks = 0;
    const watched = {
      get state() {
        looks += 1;
        return temporal.state;
      },
    };
    const timers = startTimersInAbsence(
      { temporal: watched, clock: clock.now, lookEveryMs: 1 },
      {
        maintenance: {
          purgeExpired: async ({ unlessEndedWithinSeconds }) => {
            runs.push(`purge unless within ${unlessEndedWithinSeconds} s`);
            return { deleted: {}, more: false, otherRunActive: false };
          },
          advanceSigningKeys: async () => {
            runs.push('keys');
            return { changes: [], nextDueAt: null };
          },
        },
        purgeEveryMs: HOUR_MS,
        advanceKeysEveryMs: HOUR_MS,
        log: recorded.log,
      },
    );
    /** Two further looks: what the first one begins is under way at the second. */
    const looked = async () => {
      const from = looks;
      await eventually('a look at Temporal', () => looks >= from + 2);
    };
    const become = (status: WorkerState['status']) => {
      temporal.state = state(status);
    };
    return { ...recorded, clock, timers, runs, looked, become };
  }

  test('purges and advances the keys once Temporal has been away for a minute', async () => {
    const { clock, timers, runs, looked } = startWithTemporal();
    clock.advance(MINUTE_MS - 1);
    await looked();
    expect(runs).toEqual([]);
    clock.advance(1);
    await looked();
    expect(runs.sort()).toEqual(['keys', 'purge unless within 3600 s']);
    await timers.stop();
  });

  test('leaves both to Temporal while it is there, and again when it is back', async () => {
    const { clock, timers, runs, looked, become, lines } = startWithTemporal();
    become('polling');
    clock.advance(HOUR_MS);
    await looked();
    expect(runs).toEqual([]);

    become('disconnected');
    clock.advance(MINUTE_MS);
    await looked();
    expect(runs).toHaveLength(2);
    become('polling');
    await looked();
    expect(lines().map(({ msg }) => msg)).toEqual([
      'without Temporal, timers purge and advance the signing keys',
      'Temporal is back: its schedules purge and advance the signing keys',
    ]);

    become('disconnected');
    clock.advance(MINUTE_MS - 1);
    await looked();
    expect(runs).toHaveLength(2);
    await timers.stop();
  });

  test('keeps its timers while Temporal is away, though the clock is set back meanwhile', async () => {
    const { clock, timers, looked, lines } = startWithTemporal();
    clock.advance(MINUTE_MS);
    await looked();
    clock.advance(-HOUR_MS);
    await looked();
    expect(lines().map(({ msg }) => msg)).toEqual([
      'without Temporal, timers purge and advance the signing keys',
    ]);
    await timers.stop();
  });

  test('begins its timers also where the clock was set back after Temporal went away', async () => {
    const { clock, timers, runs, looked } = startWithTemporal();
    clock.advance(-HOUR_MS);
    await looked();
    clock.advance(MINUTE_MS);
    await looked();
    expect(runs).toHaveLength(2);
    await timers.stop();
  });

  test('ends with its timers', async () => {
    const { clock, timers, runs, looked } = startWithTemporal();
    clock.advance(MINUTE_MS);
    await looked();
    await timers.stop();
    expect(runs).toHaveLength(2);
  });
});
