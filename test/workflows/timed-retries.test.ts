import { afterEach, describe, expect, test } from '@jest/globals';
import { startTimedRetries, type TimedRetryOptions } from '../../workflows/timed-retries.js';
import { RetryDomain } from './retry-domain.js';
import { eventually, recordingLog } from './temporal-fixture.js';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function retry(domain: RetryDomain, options: Partial<TimedRetryOptions> = {}) {
  const ending = new AbortController();
  const { log, lines } = recordingLog();
  const backoff = { firstDelayMs: 20, maxDelayMs: 100 };
  const retries = domain.dependencies({ ending: ending.signal });
  const timed = startTimedRetries({ retries, list: domain.list, log, backoff, ...options });
  const stop = (graceMs = 0) => {
    ending.abort();
    return timed.stop(graceMs);
  };
  ends.push(stop);
  return { lines, stop };
}

const allEnded = (domain: RetryDomain) => eventually('the end of all', () => domain.isAllEnded);
const warned = (lines: ReturnType<typeof retry>['lines']) => lines.filter(({ level }) => level === 'warn');

describe('retries without Temporal', () => {
  test('make the second and the third attempt, each when it is due, and no fourth', async () => {
    const domain = new RetryDomain({ delaysMs: [150, 300] });
    domain.add('bat_1', { deliveryId: 'whd_back' }, { deliveryId: 'whd_never' });
    domain.receiver = ({ deliveryId, attemptNumber }) =>
      deliveryId === 'whd_back' && attemptNumber === 3 ? 204 : 503;
    const begunAt = Date.now();
    retry(domain);
    await allEnded(domain);
    expect(domain.statuses).toEqual({ whd_back: 'DELIVERED', whd_never: 'EXHAUSTED' });
    for (const id of ['whd_back', 'whd_never']) {
      const [second, third] = domain.sent.filter(({ deliveryId }) => deliveryId === id);
      expect(domain.attemptsAt(id)).toEqual([2, 3]);
      expect((second?.at ?? 0) - begunAt).toBeGreaterThanOrEqual(140);
      expect((third?.at ?? 0) - (second?.at ?? 0)).toBeGreaterThanOrEqual(300);
    }
  });

  test('send nothing twice where two retry the same batches side by side', async () => {
    const domain = new RetryDomain();
    const ids = Array.from({ length: 30 }, (_, index) => `whd_${index}`);
    domain.add('bat_1', ...ids.map((deliveryId) => ({ deliveryId })));
    domain.receiver = () => 500;
    // Neither marks, so that each gets all.
    const list = { ...domain.list, markHandedOver: async () => undefined };
    retry(domain, { list });
    retry(domain, { list });
    await allEnded(domain);
    for (const id of ids) expect(domain.attemptsAt(id)).toEqual([2, 3]);
  });

  test('go on after a domain that was away in every call, and say so once', async () => {
    const domain = new RetryDomain().add('bat_1', { deliveryId: 'whd_1' });
    const losses = new Map<string, number>();
    domain.fault = (method) => {
      losses.set(method, (losses.get(method) ?? 0) + 1);
      return (losses.get(method) ?? 0) <= 2 ? 'before' : undefined;
    };
    const { lines } = retry(domain);
    await allEnded(domain);
    expect(domain.attemptsAt('whd_1')).toEqual([2]);
    expect(warned(lines).map(({ message }) => message)).toEqual([
      'webhook retries are not handed over for now',
      'webhook retries of a batch are put off',
    ]);
  }, 15_000);

  test('wait for an attempt of somebody else, and forget a batch that was purged', async () => {
    const domain = new RetryDomain();
    domain.add('bat_1', { deliveryId: 'whd_1', leaseUntil: Date.now() + 300, nextAttemptAt: undefined });
    domain.add('bat_gone', { deliveryId: 'whd_gone' });
    const { list } = domain;
    retry(domain, {
      list: {
        ...list,
        toHandOver: async (request, call) => {
          const batches = await list.toHandOver(request, call);
          domain.rows.delete('whd_gone');
          return batches;
        },
      },
    });
    await allEnded(domain);
    expect(domain.interrupted).toEqual([{ deliveryId: 'whd_1', attemptNumber: 1 }]);
    expect(domain.attemptsAt('whd_1')).toEqual([2]);
    expect(domain.attemptsAt('whd_gone')).toEqual([]);
  });

  test('take no more batches than they may keep, and the others later', async () => {
    const domain = new RetryDomain({ delaysMs: [200, 200] });
    const batches = Array.from({ length: 9 }, (_, index) => `bat_${index}`);
    for (const batchId of batches) domain.add(batchId, { deliveryId: `whd_of_${batchId}` });
    const asked = new Map<string, number>();
    const { retryBatch } = domain.domain;
    let most = 0;
    domain.domain.retryBatch = async (batchId, call) => {
      const deliveries = await retryBatch(batchId, call);
      asked.set(batchId, Date.now());
      const open = [...asked.keys()].filter((id) => domain.statuses[`whd_of_${id}`] === 'PENDING');
      most = Math.max(most, open.length);
      return deliveries;
    };
    retry(domain, { most: 3 });
    await allEnded(domain);
    expect(most).toBe(3);
    for (const batchId of batches) expect(domain.attemptsAt(`whd_of_${batchId}`)).toEqual([2]);
  });

  test('let an attempt under way end when the process ends, and begin no other', async () => {
    const domain = new RetryDomain({ delaysMs: [0, 0] });
    domain.add('bat_1', { deliveryId: 'whd_1' });
    let answer: (status: number) => void = () => undefined;
    domain.receiver = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const { stop } = retry(domain);
    await eventually('an attempt', () => domain.sent.length === 1);
    const stopped = stop(5_000);
    answer(503);
    await stopped;
    expect(domain.statuses).toEqual({ whd_1: 'PENDING' });
    expect(domain.rows.get('whd_1')).toMatchObject({ attemptsBegun: 2, leaseUntil: undefined });
    expect(domain.sent).toHaveLength(1);
  });

  test('cut off and record what does not end within the grace', async () => {
    const domain = new RetryDomain({ delaysMs: [0, 60_000] }).add('bat_1', { deliveryId: 'whd_1' });
    domain.receiver = (_, signal) =>
      new Promise((resolve) => signal?.addEventListener('abort', () => resolve('INTERRUPTED')));
    const { stop } = retry(domain);
    await eventually('an attempt', () => domain.sent.length === 1);
    await stop(50);
    expect(domain.rows.get('whd_1')).toMatchObject({ attemptsBegun: 2, leaseUntil: undefined });
  });

  test('end in time although the domain answers nothing any more', async () => {
    const domain = new RetryDomain({ delaysMs: [0, 0], leaseMs: 60_000 });
    domain.add('bat_1', { deliveryId: 'whd_1' });
    const { stop } = retry(domain);
    domain.fault = (method) => (method === 'recordAttempt' ? 'before' : undefined);
    await eventually('an attempt', () => domain.sent.length === 1);
    const stoppedAt = Date.now();
    await stop(50);
    expect(Date.now() - stoppedAt).toBeLessThan(3_000);
    domain.fault = () => undefined;
  });
});
