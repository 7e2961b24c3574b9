import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, jest, test } from '@jest/globals';
import { DeliveryClaims } from '../../../../../src/domain/webhooks/sending/claims/claims.js';
import { databaseUnderTest, describeEachDatabase } from '../../../../support/databases.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../../../../support/eventually.js';
import { signalled } from '../../../../support/signalled.js';
import { newConnection } from '../subscriptions/rig.js';
import {
  NEVER,
  PATIENT,
  REQUEST,
  refused,
  type SendingNode,
  sendingNode,
  sendingRig,
  succeeded,
} from './rig.js';

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
    const waiting = rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS });
    await rig.happen();
    expect((await waiting).deliveries).toHaveLength(1);
  });

  test('waits until something is, recorded on another node', async () => {
    const rig = await sendingRig(under);
    const other = sendingNode(rig.database, rig.connection, rig.clock);
    await rig.subscribe();
    const waiting = rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS });
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
    const waiting = rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS }, signal);
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
    const given = rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS }, caller.signal);
    await eventually('a claim that waits', () => waits.count > 0);
    const patient = rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS });
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
    const { told: released, tell: release } = signalled();
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
    const second = rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS }, caller.signal);
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
      claiming = rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS }, caller.signal);
      await waits;
      caller.abort();
    });
    expect(await claiming).toMatchObject({ deliveries: [] });
    expect(await rig.deliveries()).toMatchObject([{ attempts_begun: 0, lease_until: null }]);
    expect((await rig.claim()).deliveries).toHaveLength(1);
  });

  test('leaves its wake to another one when it fails', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const { deliveriesDue, dependencies } = rig;
    const news = jest.spyOn(deliveriesDue, 'news');
    const claims = new DeliveryClaims(dependencies, NEVER);
    const request = { ...REQUEST, maxWaitMs: LONGER_THAN_A_TEST_MS };
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
    const waiting = [
      rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS }),
      rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS }),
    ];
    await eventually('claims that wait', () => waits.count >= 2);
    rig.deliveriesDue.close();
    for (const claim of await Promise.all(waiting)) {
      expect(claim.deliveries).toEqual([]);
    }
    await rig.happen();
    expect((await rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS })).deliveries).toEqual([]);
    expect(await rig.deliveries()).toMatchObject([{ attempts_begun: 0 }]);
  });

  test('wakes the next one when it could not take all', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const waiting = Array.from({ length: 3 }, () =>
      rig.claim({ freeSlots: 2, maxWaitMs: LONGER_THAN_A_TEST_MS }),
    );
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

  test('leaves its wake to one with other slots when its own are not for what is due', async () => {
    const database = await under.openMigrated();
    const rig = sendingNode(database, await newConnection(database), undefined, {}, NEVER);
    await rig.subscribe();
    await Promise.all(Array.from({ length: 14 }, () => rig.happen()));
    expect((await rig.claim({ freeSlots: 14, totalSlots: 14 })).deliveries.length).toBeGreaterThan(2);
    await rig.claim();
    const waits = waitsAt(rig);
    const request = { ...REQUEST, totalSlots: 16, maxWaitMs: LONGER_THAN_A_TEST_MS };
    const caller = new AbortController();
    const first = rig.claims.claim({ ...request, freeSlots: 2 }, caller.signal);
    await eventually('the first waits', () => waits.count === 1);
    const second = rig.claims.claim({ ...request, freeSlots: 16 }, PATIENT);
    await eventually('both wait', () => waits.count === 2);
    await rig.happen();
    expect((await second).deliveries).toHaveLength(1);
    caller.abort();
    expect((await first).deliveries).toEqual([]);
  });

  test('wakes the next one when its last slots are not for what is left', async () => {
    const database = await under.openMigrated();
    const rig = sendingNode(database, await newConnection(database), undefined, {}, NEVER);
    await rig.subscribe();
    const request = { ...REQUEST, freeSlots: 16, totalSlots: 16, maxWaitMs: LONGER_THAN_A_TEST_MS };
    const waits = waitsAt(rig);
    const waiting = Array.from({ length: 2 }, () => rig.claims.claim(request, PATIENT));
    await eventually('both wait', () => waits.count === 2);
    await rig.platform.run(async (changes) => {
      for (let index = 0; index < 20; index += 1) {
        await changes.recordEvent(rig.event());
      }
    });
    const claims = await Promise.all(waiting);
    expect(claims.map(({ deliveries }) => deliveries.length)).toEqual([14, 6]);
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
    const next = await rig.claims.claim(REQUEST, PATIENT);
    await rig.record(refused(next.deliveries[0]?.id as never));
    expect(rig.deliveriesDue.count).toBe(before + 1);
  });

  test('end a claim whose free slots are not for what is due: its caller asks again with all that are free', async () => {
    const database = await under.openMigrated();
    const rig = sendingNode(database, await newConnection(database), undefined, {}, NEVER);
    await rig.subscribe();
    await Promise.all(Array.from({ length: 20 }, () => rig.happen()));
    const { deliveries } = await rig.claim({ freeSlots: 16, totalSlots: 16 });
    const waits = waitsAt(rig);
    const request = { ...REQUEST, freeSlots: 2, totalSlots: 16, maxWaitMs: LONGER_THAN_A_TEST_MS };
    const waiting = rig.claims.claim(request, PATIENT);
    await eventually('it waits', () => waits.count === 1);
    // Events alone end nothing.
    await rig.happen();
    await eventually('it waits on', () => waits.count === 2);
    await rig.record(succeeded(deliveries[0]?.id as never));
    expect((await waiting).deliveries).toEqual([]);
    expect((await rig.claim({ ...request, freeSlots: 3 })).deliveries).toHaveLength(1);
  });

  test('during its first look end such a claim too', async () => {
    const database = await under.openMigrated();
    const rig = sendingNode(database, await newConnection(database), undefined, {}, NEVER);
    await rig.subscribe();
    await Promise.all(Array.from({ length: 20 }, () => rig.happen()));
    const { deliveries } = await rig.claim({ freeSlots: 16, totalSlots: 16 });
    const { rows } = rig.dependencies.unitOfWork;
    const { dueSubscriptions } = rows;
    jest.spyOn(rows, 'dueSubscriptions').mockImplementationOnce(async (...parameters) => {
      const due = await dueSubscriptions(...parameters);
      await rig.record(succeeded(deliveries[0]?.id as never));
      return due;
    });
    const request = { ...REQUEST, freeSlots: 2, totalSlots: 16, maxWaitMs: LONGER_THAN_A_TEST_MS };
    expect((await rig.claims.claim(request, PATIENT)).deliveries).toEqual([]);
  });
});
