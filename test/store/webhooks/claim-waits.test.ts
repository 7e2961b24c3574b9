import { describe, expect, test } from '@jest/globals';
import { databaseUnderTest, describeEachDatabase } from '../../support/databases.js';
import { LEASE_MS, PATIENT, refused, sendingNode, sendingRig, succeeded } from './sending-rig.js';

/** Longer than a test may take: what waits for its end fails. */
const FOREVER_MS = 60_000;

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

  test('is over when its caller hangs up, and leaves to the next what it was woken for', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const caller = new AbortController();
    const given = rig.claim({ maxWaitMs: FOREVER_MS }, caller.signal);
    const patient = rig.claim({ maxWaitMs: FOREVER_MS });
    caller.abort();
    await rig.happen();
    expect((await given).deliveries).toEqual([]);
    expect((await patient).deliveries).toHaveLength(1);
  });

  test('is over when nothing more is handed out, and so are those after it, whatever is due', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const waiting = [rig.claim({ maxWaitMs: FOREVER_MS }), rig.claim({ maxWaitMs: FOREVER_MS })];
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
        await changes.record({
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
    rig.clock.advance(1_001);
    await rig.claim();
    expect(await rig.attempts(id)).toMatchObject([
      {
        ...{ number: 1, outcome: 'INTERRUPTED', started_at: startedAt, ended_at: rig.clock.now() },
        ...{ duration_ms: null, http_status: null, response_start: null },
        message: expect.stringMatching(/lost.*nobody knows/),
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

  test('wake a claim that was held back, and nobody where none was', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    await rig.happen();
    const { deliveries } = await rig.claim({ maxRunningPerSubscription: 1 });
    const before = rig.deliveriesDue.count;
    await rig.record(succeeded(deliveries[0]?.id as never));
    rig.claims.attemptsEnded();
    expect(rig.deliveriesDue.count).toBe(before + 1);
    const next = await rig.claims.claim(
      { freeSlots: 9, maxRunningPerSubscription: 9, maxWaitMs: 0 },
      PATIENT,
    );
    await rig.record(refused(next.deliveries[0]?.id as never));
    rig.claims.attemptsEnded();
    expect(rig.deliveriesDue.count).toBe(before + 1);
  });
});
