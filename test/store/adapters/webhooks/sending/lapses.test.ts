import { describe, expect, jest, test } from '@jest/globals';
import type { DeliveryId } from '../../../../../generated/ids.js';
import { databaseUnderTest, describeEachDatabase } from '../../../../support/databases.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../../../../support/eventually.js';
import { signalled } from '../../../../support/signalled.js';
import {
  LEASE_MS,
  PATIENT,
  REQUEST,
  type SendingNode,
  SWEEP_PAUSE_MS,
  sendingRig,
  twoSendingNodes,
} from './rig.js';

/** From now on, the search for lapsed attempts finds nothing until it is ended. */
function endlessSearch({ dependencies }: SendingNode) {
  const { told, tell } = signalled<boolean>();
  return {
    search: jest.spyOn(dependencies.unitOfWork.rows, 'anyLapsed').mockReturnValue(told),
    end: () => tell(false),
  };
}

describeEachDatabase('attempts of a lost worker', (under) => {
  test('are each recorded once, though several nodes sweep at once', async () => {
    const { one, other } = await twoSendingNodes(under);
    const ended: [string, number][] = [];
    for (const { dependencies } of [one, other]) {
      dependencies.onEnded = (status, count) => ended.push([status, count]);
    }
    await one.subscribe();
    for (let event = 0; event < 20; event += 1) {
      await one.happen();
    }
    const lost = (await one.claim()).deliveries;
    expect(lost).toHaveLength(20);
    one.clock.advance(LEASE_MS + 1);

    await Promise.all([one.claim(), other.claim(), one.claim(), other.claim()]);
    for (const { id } of lost) {
      expect(await one.attempts(id)).toMatchObject([{ number: 1, outcome: 'INTERRUPTED' }]);
      expect(await one.delivery(id)).toMatchObject({ attempts_begun: 1, status: 'PENDING' });
    }
    expect(ended).toEqual([]);
    expect([...one.unswept, ...other.unswept]).toEqual([]);
  });

  test('are recorded later where they cannot be now, and a claim brings what is due all the same', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    const lapsed = await rig.claimOne();
    rig.clock.advance(LEASE_MS + 1);
    await rig.happen();
    const { rows } = rig.dependencies.unitOfWork;
    const fault = new Error('This row is locked.');
    const look = jest.spyOn(rows, 'anyLapsed').mockRejectedValueOnce(fault);
    expect((await rig.claim()).deliveries).toHaveLength(1);
    expect(rig.unswept).toEqual([fault]);
    look.mockRestore();
    rig.clock.advance(SWEEP_PAUSE_MS);
    await rig.claim();
    expect(await rig.attempts(lapsed)).toMatchObject([{ outcome: 'INTERRUPTED' }]);
  });

  test('are swept while a claim waits no longer than its own time', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.claim();
    rig.clock.advance(SWEEP_PAUSE_MS);
    const { search, end } = endlessSearch(rig);
    const request = { ...REQUEST, maxWaitMs: 5 };
    expect((await rig.claims.claim(request, PATIENT)).deliveries).toEqual([]);
    await rig.happen();
    expect((await rig.claims.claim(request, PATIENT)).deliveries).toHaveLength(1);
    expect(search).toHaveBeenCalledTimes(1);
    end();
  });

  test('wake a claim, which may take their room, once a sweep has ended them', async () => {
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

  test('do not keep a claim open when the domain stops, also before the first sweep has ended', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    const { search, end } = endlessSearch(rig);
    const claim = rig.claims.claim({ ...REQUEST, maxWaitMs: LONGER_THAN_A_TEST_MS }, PATIENT);
    await eventually('a sweep', () => search.mock.calls.length > 0);
    rig.deliveriesDue.close();
    expect((await claim).deliveries).toEqual([]);
    end();
  });

  test('count as failed once their lease is over', async () => {
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

// On SQLite a sweep begins when the other write has ended.
describe('on PostgreSQL, attempts of a lost worker', () => {
  const under = databaseUnderTest('PostgreSQL');

  test.each(['deliveries', 'subscriptions'] as const)(
    'are recorded beside one whose row of %s another write has locked, which is recorded later',
    async (table) => {
      const rig = await sendingRig(under);
      await rig.subscribe();
      await rig.subscribe();
      await rig.happen();
      const claimed = (await rig.claim()).deliveries.map(({ id }) => id);
      const [locked, other] = claimed as [DeliveryId, DeliveryId];
      const { subscription_id } = await rig.delivery(locked);
      rig.clock.advance(LEASE_MS + 1);
      await rig.database.write(async (writer) => {
        const id = table === 'deliveries' ? locked : subscription_id;
        await writer.selectFrom(table).where('id', '=', id).select('id').forUpdate().execute();
        await rig.claim();
        expect(await rig.attempts(other)).toMatchObject([{ outcome: 'INTERRUPTED' }]);
        expect(await rig.attempts(locked)).toEqual([]);
        const { count } = rig.deliveriesDue;
        rig.clock.advance(SWEEP_PAUSE_MS);
        await rig.claim();
        expect(rig.deliveriesDue.count).toBe(count);
      });
      expect(await rig.attempts(locked)).toEqual([]);
      rig.clock.advance(SWEEP_PAUSE_MS);
      await rig.claim();
      expect(await rig.attempts(locked)).toMatchObject([{ outcome: 'INTERRUPTED' }]);
      expect(rig.unswept).toEqual([]);
    },
  );
});
