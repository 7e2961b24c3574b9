import { afterEach, describe, expect, test } from '@jest/globals';
import { AttemptOutcome } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import {
  type AttemptResult,
  RecordAttemptsRequest,
} from '../../generated/proto/integration/webhooks/v1/sending.js';
import { AttemptRecorder, type EndedAttempt } from '../../src/delivery/attempt-recorder.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import { eventually } from '../support/eventually.js';
import { recordedLog } from '../support/recorded-log.js';
import { signalled } from '../support/signalled.js';

const REQUEST_LIMIT = 256 * 1_024;
const recorders: AttemptRecorder[] = [];

afterEach(() => {
  for (const recorder of recorders.splice(0)) {
    recorder.stop();
  }
});

function ended(deliveryId: string, responseStart = Buffer.alloc(0), leaseMs = 30_000): EndedAttempt {
  const attempt = {
    number: 1,
    startedAt: undefined,
    outcome: AttemptOutcome.STATUS_REFUSED,
    message: 'ö'.repeat(300),
    responseStart,
  };
  return { result: { deliveryId, attempt }, leaseEndsAt: performance.now() + leaseMs };
}

/** A recorder, what it told, and a promise of so many attempts being off its hands. */
function recorderWith(record: (results: AttemptResult[]) => Promise<unknown>, total: number) {
  const log = recordedLog();
  let settled = 0;
  const { told: all, tell: done } = signalled();
  const recorder = new AttemptRecorder({
    record,
    onSettled: (count) => {
      settled += count;
      if (settled >= total) {
        done();
      }
    },
    log: log.log,
  });
  recorders.push(recorder);
  return { recorder, all, log };
}

describe('the recording of attempts', () => {
  test('fits into requests that the domain reads, however long the answers were', async () => {
    const sizes: number[] = [];
    const seen: string[] = [];
    const { recorder, all } = recorderWith((results) => {
      sizes.push(RecordAttemptsRequest.encode({ results }).finish().length);
      seen.push(...results.map(({ deliveryId }) => deliveryId));
      return Promise.resolve();
    }, 100);
    const ids = Array.from({ length: 100 }, (_, index) => `whd_${index}`);
    for (const id of ids) {
      recorder.add(ended(id, Buffer.alloc(16 * 1_024, 'x')));
    }
    await all;
    expect(Math.max(...sizes)).toBeLessThan(REQUEST_LIMIT);
    expect(sizes.length).toBeLessThan(15);
    expect(seen).toEqual(ids);
  });

  test.each([ErrorCode.INVALID_REQUEST, ErrorCode.INTERNAL_ERROR])(
    'is not kept back by a result that the domain refuses with %s, which goes after its lease',
    async (code) => {
      const recorded = new Set<string>();
      const { recorder, all, log } = recorderWith((results) => {
        if (results.some(({ deliveryId }) => deliveryId === 'whd_poison')) {
          return Promise.reject(new ServiceError(code, 'No.'));
        }
        for (const { deliveryId } of results) {
          recorded.add(deliveryId);
        }
        return Promise.resolve();
      }, 5);
      for (const id of ['whd_1', 'whd_2', 'whd_3', 'whd_4']) {
        recorder.add(ended(id));
      }
      recorder.add(ended('whd_poison', undefined, 200));
      await eventually('the others', () => recorded.size === 4);
      await eventually('one more', () => {
        recorder.add(ended('whd_more'));
        return log.lines().some(({ level }) => level === 'error');
      });
      await all;
      expect([...recorded]).toEqual(expect.arrayContaining(['whd_1', 'whd_2', 'whd_3', 'whd_4']));
      expect(log.lines().filter(({ level }) => level === 'error')).toMatchObject([
        { deliveryId: 'whd_poison' },
      ]);
    },
  );

  test('is not kept back by a result with rows that are locked, which is reported alone until then', async () => {
    const calls: string[][] = [];
    let isLocked = true;
    const { recorder, all, log } = recorderWith((results) => {
      const ids = results.map(({ deliveryId }) => deliveryId);
      calls.push(ids);
      return isLocked && ids.includes('whd_locked')
        ? Promise.reject(new ServiceError(ErrorCode.UNAVAILABLE, 'Locked.'))
        : Promise.resolve();
    }, 12);
    const timesTried = () => calls.filter((ids) => ids.includes('whd_locked')).length;
    recorder.add(ended('whd_locked'));
    await eventually('a failure', () => timesTried() === 1);
    for (let index = 0; index < 10; index += 1) {
      recorder.add(ended(`whd_${index}`));
    }
    await eventually('the others', () => calls.flat().includes('whd_9'));
    const before = timesTried();
    await eventually('one more failure', () => timesTried() > before);
    recorder.add(ended('whd_last'));
    await eventually('the last', () => calls.flat().includes('whd_last'));
    isLocked = false;
    await all;
    expect(calls.filter((ids) => ids.includes('whd_locked') && ids.length > 1)).toEqual([]);
    const told = log.lines().filter(({ level }) => level !== 'debug');
    expect(told.map(({ msg }) => msg)).toEqual([
      'webhook attempts are not recorded for now',
      'webhook attempts are recorded again',
    ]);
  });

  test('goes before all results with rows that are locked, once these have been tried', async () => {
    const calls: string[] = [];
    const locked = ['whd_1', 'whd_2', 'whd_3'];
    const { recorder, all } = recorderWith((results) => {
      const call = results.map(({ deliveryId }) => deliveryId).join(' ');
      calls.push(call);
      if (calls.includes('whd_new')) {
        return Promise.resolve();
      }
      if (call === locked.at(-1)) {
        recorder.add(ended('whd_new'));
      }
      return Promise.reject(new ServiceError(ErrorCode.UNAVAILABLE, 'Locked.'));
    }, 4);
    for (const id of locked) {
      recorder.add(ended(id));
    }
    await all;
    // One that gets through shows that the others may, too.
    expect(calls.slice(calls.indexOf('whd_3'))).toEqual(['whd_3', 'whd_new', 'whd_1', 'whd_2 whd_3']);
  });

  test('does not keep back new results where only one of several locks is over', async () => {
    const calls: string[] = [];
    const locked = new Set(['whd_1', 'whd_2', 'whd_3']);
    const { recorder, all } = recorderWith((results) => {
      const ids = results.map(({ deliveryId }) => deliveryId);
      const isAgain = calls.includes(ids.join(' '));
      calls.push(ids.join(' '));
      if (ids.join() === 'whd_1' && isAgain) {
        locked.delete('whd_1');
        recorder.add(ended('whd_new'));
        recorder.add(ended('whd_newer'));
      }
      if (ids.includes('whd_newer')) {
        locked.clear();
      }
      return ids.some((id) => locked.has(id))
        ? Promise.reject(new ServiceError(ErrorCode.UNAVAILABLE, 'Locked.'))
        : Promise.resolve();
    }, 5);
    for (const id of locked) {
      recorder.add(ended(id));
    }
    await all;
    expect(calls.slice(calls.lastIndexOf('whd_1'))).toEqual(['whd_1', 'whd_new', 'whd_newer', 'whd_2 whd_3']);
  });

  test('goes on with what failed alone while new results come without a pause', async () => {
    const tries: string[] = [];
    let isRecorded = false;
    const { recorder } = recorderWith(([first]) => {
      const id = first?.deliveryId ?? '';
      tries.push(id);
      if (id !== 'whd_locked') {
        recorder.add(ended('whd_new'));
        return Promise.resolve();
      }
      isRecorded = tries.filter((tried) => tried === id).length === 3;
      return isRecorded
        ? Promise.resolve()
        : Promise.reject(new ServiceError(ErrorCode.UNAVAILABLE, 'Locked.'));
    }, 1);
    recorder.add(ended('whd_locked'));
    await eventually('a failure', () => tries.length === 1);
    recorder.add(ended('whd_new'));
    await eventually('a success', () => isRecorded);
    expect(tries.slice(0, 5)).toEqual(['whd_locked', 'whd_new', 'whd_locked', 'whd_new', 'whd_locked']);
  });

  test.each([
    ErrorCode.UNAVAILABLE,
    ErrorCode.INTERNAL_ERROR,
    ErrorCode.RATE_LIMITED,
    ErrorCode.SERVICE_TOKEN_INVALID,
  ])('is told again while the domain takes nothing with %s, even after the lease', async (code) => {
    let calls = 0;
    const { recorder, all } = recorderWith(() => {
      calls += 1;
      return calls < 5 ? Promise.reject(new ServiceError(code, 'Away.')) : Promise.resolve();
    }, 2);
    recorder.add(ended('whd_1', undefined, -1_000));
    recorder.add(ended('whd_2', undefined, -1_000));
    await all;
    expect(calls).toBeGreaterThanOrEqual(5);
  });

  test('is tried with fewer where the domain is too slow for so many', async () => {
    const sizes: number[] = [];
    const { recorder, all } = recorderWith((results) => {
      sizes.push(results.length);
      const isLate = results.length > 2;
      return isLate
        ? Promise.reject(new ServiceError(ErrorCode.UNAVAILABLE, 'Too late.'))
        : Promise.resolve();
    }, 8);
    for (let index = 0; index < 8; index += 1) {
      recorder.add(ended(`whd_${index}`));
    }
    await all;
    expect(sizes.slice(0, 3)).toEqual([8, 4, 2]);
  });
});
