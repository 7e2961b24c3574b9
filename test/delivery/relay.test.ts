import { describe, expect, jest, test } from '@jest/globals';
import { AttemptOutcome } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import { eventually } from '../support/eventually.js';
import { fakeTimeouts } from '../support/fake-timeouts.js';
import { signalled } from '../support/signalled.js';
import { turns } from '../support/turns.js';
import { FakeDomain, HeldSender } from './fake-domain.js';
import { relaysUnderTest } from './relays.js';

const away = new ServiceError(ErrorCode.UNAVAILABLE, 'away');
/** Longer than a busy machine takes to record. */
const GRACE_MS = 60_000;
const NOT_CLAIMED = 'webhook deliveries are not claimed for now';
const start = relaysUnderTest();

function recordedMetrics() {
  const begunAfter: number[] = [];
  const receivedAfter: number[] = [];
  let slotsNow = () => ({ free: 0, total: 0 });
  return {
    begunAfter,
    receivedAfter,
    slotsNow: () => slotsNow(),
    slots: (read: () => { free: number; total: number }) => {
      slotsNow = () => {
        const { free, total } = read();
        return { free, total };
      };
    },
    begun: (waitedMs: number) => begunAfter.push(waitedMs),
    received: (waitedMs: number) => receivedAfter.push(waitedMs),
  };
}

/** How many attempts were begun in each turn of the event loop in which there were any. */
function countedByTurn(sender: HeldSender): number[] {
  const counts: number[] = [];
  let isNewTurn = true;
  const attempt = sender.attempt.bind(sender);
  sender.attempt = (...parameters) => {
    if (isNewTurn) {
      isNewTurn = false;
      counts.push(0);
      setImmediate(() => {
        isNewTurn = true;
      });
    }
    counts.push((counts.pop() ?? 0) + 1);
    return attempt(...parameters);
  };
  return counts;
}

describe('the relay', () => {
  test('claims, sends and records the first attempt of each delivery', async () => {
    const { domain, relay } = start({ sender: new HeldSender(() => true) });
    const ids = domain.add(100);
    await domain.untilRecorded(ids);
    expect(domain.recorded.get(ids[0] as string)).toMatchObject({
      deliveryId: ids[0],
      attempt: { number: 1, outcome: AttemptOutcome.SUCCEEDED, httpStatus: 204, durationMs: 1, message: '' },
    });
    expect(domain.claims[0]).toMatchObject({ freeSlots: 8, maxRunningPerSubscription: 4 });
    await relay.stop(GRACE_MS);
  });

  test('measures waits for first attempts, and for their answers where there is one', async () => {
    const metrics = recordedMetrics();
    const { domain, sender, relay } = start({ metrics });
    const first = domain.add(3);
    domain.add(1, 'whs_1', 2);
    await eventually('all are under way', () => sender.running.size === 4);
    expect(metrics.slotsNow()).toEqual({ free: 4, total: 8 });
    sender.running.get(`evt_${first[0]}`)?.('SUCCEEDED');
    sender.endAll('TIMED_OUT');
    await domain.untilRecorded(first);
    await relay.stop(GRACE_MS);
    expect(metrics.begunAfter).toHaveLength(3);
    expect(metrics.receivedAfter).toHaveLength(1);
    for (const waitedMs of [...metrics.begunAfter, ...metrics.receivedAfter]) {
      expect(waitedMs).toBeGreaterThanOrEqual(domain.waitedMs);
    }
    expect(metrics.slotsNow()).toEqual({ free: 8, total: 8 });
  });

  test.each([2, 3])('makes attempt %i as it makes the first, and records it as that', async (number) => {
    const { domain, relay } = start({ sender: new HeldSender(() => true) });
    const [id = ''] = domain.add(1, 'whs_1', number);
    await domain.untilRecorded([id]);
    expect(domain.recorded.get(id)?.attempt).toMatchObject({ number, outcome: AttemptOutcome.SUCCEEDED });
    await relay.stop(GRACE_MS);
  });

  test('never has more under way or unrecorded than it may, and claims no more than that', async () => {
    const { domain, sender } = start();
    domain.recordFault = () => away;
    domain.add(50);
    await eventually('all slots are taken', () => sender.running.size === 8);
    sender.endAll();
    // None is free before it is recorded: what a crash leaves in doubt is no more than the slots.
    await eventually('recording was tried', () => sender.running.size === 0);
    expect(sender.attempts).toBe(8);
    domain.recordFault = undefined;
    await eventually('the next are sent', () => sender.attempts === 16);
    expect(sender.mostRunning).toBe(8);
    expect(Math.max(...domain.claims.map(({ freeSlots }) => freeSlots))).toBe(8);
  });

  test('continues with the one slot that is free, whatever the others wait for', async () => {
    const sender = new HeldSender(({ url }) => !url.includes('hanging'));
    const { domain } = start({ sender });
    domain.add(7, 'whs_hanging');
    await eventually('seven slots hang', () => sender.running.size === 7);
    const ids = domain.add(50, 'whs_quick');
    await domain.untilRecorded(ids);
    expect(sender.running.size).toBe(7);
  });

  test('with more due than it can take, waits a moment for several slots, and then takes what there is', async () => {
    const { domain, sender } = start({ sends: 128 });
    domain.add(500);
    await eventually('all slots are taken', () => sender.running.size === 128);
    const claimed = () => domain.claims.slice(1).map(({ freeSlots }) => freeSlots);
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    try {
      const pass = async (ms: number) => {
        await jest.advanceTimersByTimeAsync(ms);
        await turns(10);
      };
      // The recorder reports 16 results without waiting for more; a claim is worthwhile from 48 free slots.
      const endSome = async () => {
        for (const end of [...sender.running.values()].slice(0, 16)) {
          end('SUCCEEDED');
        }
        await pass(0);
      };
      await endSome();
      expect(domain.recorded.size).toBe(16);
      await endSome();
      expect(claimed()).toEqual([]);
      await endSome();
      expect(claimed()).toEqual([48]);
      await endSome();
      await pass(9);
      expect(claimed()).toEqual([48]);
      await pass(1);
      expect(claimed()).toEqual([48, 16]);
    } finally {
      jest.useRealTimers();
    }
  });

  test('records at once when all have ended that leave no more than the last slots', async () => {
    const { domain, sender } = start();
    domain.add(7);
    await eventually('seven slots are taken', () => sender.running.size === 7);
    sender.endAll();
    await turns(10);
    expect(domain.recorded.size).toBe(7);
  });

  test('lets a claim wait only briefly while few slots are free, because more become free meanwhile', async () => {
    const { domain, sender } = start();
    domain.add(6);
    await eventually('most slots are taken', () => sender.running.size === 6);
    await eventually('the next claim', () => domain.claims.length === 2);
    expect(domain.claims).toMatchObject([
      { freeSlots: 8, maxWaitMs: 10_000 },
      { freeSlots: 2, maxWaitMs: 250 },
    ]);
  });

  test('begins the attempts of a claim in turns of the event loop, with slots for all', async () => {
    const sender = new HeldSender();
    const begunInTurn = countedByTurn(sender);
    const { domain } = start({ sender, sends: 100 });
    domain.add(200);
    await eventually('all slots are taken', () => sender.running.size === 100);
    expect(begunInTurn).toEqual([32, 32, 32, 4]);
    expect(domain.claims.map(({ freeSlots }) => freeSlots)).toEqual([100]);
  });

  test('claims once at a time', async () => {
    const { domain } = start({ sender: new HeldSender(() => true) });
    const ids = domain.add(100);
    await domain.untilRecorded(ids);
    expect(domain.claims.length).toBeGreaterThan(10);
    expect(domain.mostClaimsAtOnce).toBe(1);
  });

  test('asks the domain once for several results', async () => {
    const { domain, sender } = start();
    const calls: number[] = [];
    domain.recordFault = ({ length }) => {
      calls.push(length);
      return undefined;
    };
    const ids = domain.add(8);
    await eventually('all are under way', () => sender.running.size === 8);
    sender.endAll('TIMED_OUT');
    await domain.untilRecorded(ids);
    expect(calls).toEqual([8]);
    expect(domain.recorded.get(ids[7] as string)?.attempt?.outcome).toBe(AttemptOutcome.TIMED_OUT);
  });

  test('waits for the domain at the start without a warning', async () => {
    const { domain, sender, log } = start();
    domain.fail(away);
    await log.nextLine(({ level, msg }) => level === 'debug' && msg === NOT_CLAIMED);
    domain.fail(undefined);
    const ids = domain.add(1);
    await eventually('it is under way', () => sender.running.size === 1);
    sender.endAll();
    await domain.untilRecorded(ids);
    expect(log.lines().filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  test('warns once of a domain that takes too long to start', async () => {
    const { domain, sender, log } = start({ quietStartMs: 0 });
    domain.fail(away);
    await log.nextLine(({ level, msg }) => level === 'warn' && msg === NOT_CLAIMED);
    await log.nextLine(({ level, msg }) => level === 'debug' && msg === NOT_CLAIMED);
    domain.fail(undefined);
    domain.add(1);
    await log.nextLine(({ msg }) => msg === 'webhook deliveries are claimed again');
    await eventually('it is under way', () => sender.running.size === 1);
    sender.endAll();
  });

  test('continues when the domain is there again, says both once, and loses no result', async () => {
    const { domain, sender, log } = start();
    const ids = domain.add(3);
    await eventually('all are under way', () => sender.running.size === 3);
    domain.fail(away);
    domain.recordFault = () => away;
    sender.endAll();
    await log.nextLine(({ msg }) => msg === NOT_CLAIMED);
    await log.nextLine(
      ({ level, msg }) => level === 'debug' && msg === 'webhook attempts are not recorded for now',
    );
    domain.fail(undefined);
    domain.recordFault = undefined;
    await domain.untilRecorded(ids);
    await log.nextLine(({ msg }) => msg === 'webhook attempts are recorded again');
    const more = domain.add(1);
    await log.nextLine(({ msg }) => msg === 'webhook deliveries are claimed again');
    sender.endAll();
    await domain.untilRecorded(more);
    expect(log.lines().filter(({ level }) => level === 'warn')).toHaveLength(2);
    expect(sender.attempts).toBe(4);
  });

  test('drops deliveries that it cannot send, and claims the next ones', async () => {
    const sender = new HeldSender(() => true);
    const { domain, log } = start({ sender, sends: 1 });
    const { attempt } = sender;
    sender.attempt = () => Promise.reject(new Error('a fault'));
    domain.add(1);
    expect(await log.nextLine(({ level }) => level === 'error')).toMatchObject({ reason: 'a fault' });
    sender.attempt = attempt;
    await domain.untilRecorded(domain.add(1));
  });
});

describe('a relay that stops', () => {
  test('claims nothing more, lets what is under way end, and records it', async () => {
    const { domain, sender, relay } = start();
    const ids = domain.add(8);
    await eventually('all are under way', () => sender.running.size === 8);
    const stopped = relay.stop(GRACE_MS);
    const later = domain.add(5);
    sender.endAll();
    await stopped;
    expect([...domain.recorded.keys()].sort()).toEqual(ids);
    expect(later.some((id) => domain.recorded.has(id))).toBe(false);
  });

  test('sends the rest of a claim of which it has sent some', async () => {
    const sender = new HeldSender(() => true);
    const { domain, relay } = start({ sender, sends: 100 });
    const begunInTurn = countedByTurn(sender);
    const begun = new Promise<void>((resolve) => {
      const { attempt } = sender;
      sender.attempt = (...parameters) => {
        resolve();
        return attempt(...parameters);
      };
    });
    const ids = domain.add(100);
    await begun;
    const stopped = relay.stop(GRACE_MS);
    expect(begunInTurn).toEqual([32]);
    await stopped;
    expect([...domain.recorded.keys()].sort()).toEqual(ids.sort());
  });

  test('sends the deliveries of a claim that is still under way', async () => {
    const domain = new FakeDomain();
    const { told: claimed, tell: asked } = signalled();
    const { relay } = start({
      deliveries: {
        claimDeliveries: (request, options) => {
          asked();
          return domain.claimDeliveries(request, options);
        },
        recordAttempts: (request) => domain.recordAttempts(request),
      },
      sender: new HeldSender(() => true),
    });
    await claimed;
    const stopped = relay.stop(GRACE_MS);
    const ids = domain.add(2);
    await stopped;
    expect([...domain.recorded.keys()]).toEqual(ids);
  });

  test('cuts off what does not end within the grace, and records that', async () => {
    const { domain, sender, relay } = start();
    const ids = domain.add(2);
    await eventually('both are under way', () => sender.running.size === 2);
    fakeTimeouts();
    try {
      const stopped = relay.stop(GRACE_MS);
      // A second is left to record.
      jest.advanceTimersByTime(GRACE_MS - 1_000);
      await stopped;
    } finally {
      jest.useRealTimers();
    }
    expect(ids.map((id) => domain.recorded.get(id)?.attempt?.outcome)).toEqual([
      AttemptOutcome.INTERRUPTED,
      AttemptOutcome.INTERRUPTED,
    ]);
  });

  test('ends with its grace, even if the domain is away', async () => {
    const { domain, sender, relay } = start();
    domain.add(2);
    await eventually('both are under way', () => sender.running.size === 2);
    domain.recordFault = () => away;
    await relay.stop(100);
  });
});
