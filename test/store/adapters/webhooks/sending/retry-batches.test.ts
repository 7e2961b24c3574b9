import { expect, test } from '@jest/globals';
import { RetryHandover } from '../../../../../src/domain/webhooks/sending/retry-batches.js';
import { ErrorCode } from '../../../../../src/errors/service-error.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { LONGER_THAN_A_TEST_MS } from '../../../../support/eventually.js';
import { LEASE_MS, PATIENT, refused, sendingRig, succeeded } from './rig.js';

/** Half the first delay. */
const GIVEN_FOR_MS = 15_000;

describeEachDatabase('failed deliveries', (under) => {
  async function failing(count = 1) {
    const rig = await sendingRig(under);
    const subscriptionId = await rig.subscribe();
    const fail = async (times: number, type = 'user.updated') => {
      for (let index = 0; index < times; index += 1) {
        await rig.happen({ type });
      }
      const ids: string[] = [];
      while (ids.length < times) {
        const { deliveries } = await rig.claim({ freeSlots: 1_000, maxRunningPerSubscription: 1_000 });
        await rig.record(...deliveries.map(({ id }) => refused(id)));
        ids.push(...deliveries.map(({ id }) => id));
      }
      return ids;
    };
    const ids = await fail(count);
    const batches = (limit = 100) => rig.handover.claim(limit, 0, PATIENT);
    return { ...rig, subscriptionId, ids, fail, batches };
  }

  test('that come together are handed over together, once their batch is closed', async () => {
    const rig = await failing();
    rig.clock.advance(1_999);
    rig.ids.push(...(await rig.fail(2, 'client.created')));
    expect(await rig.batches()).toEqual([]);
    rig.clock.advance(1);
    const later = await rig.fail(1);
    const [batch, ...others] = await rig.batches();
    expect(others).toEqual([]);
    expect(batch).toMatchObject({
      id: expect.stringMatching(/^bat_[0-9A-Za-z]{22}$/),
      subscriptionId: rig.subscriptionId,
      instanceIntegrationId: rig.connection.id,
      eventTypes: ['client.created', 'user.updated'],
    });
    expect(batch?.deliveries.map(({ id }) => id).sort()).toEqual([...rig.ids].sort());
    expect(batch?.deliveries[0]).toMatchObject({ status: 'PENDING', attemptsBegun: 1 });
    expect((await rig.delivery(later[0] as string)).retry_batch_id).not.toBe(batch?.id);
  });

  test('are listed again and again, the oldest batch first, until they are marked', async () => {
    const rig = await failing();
    rig.clock.advance(2_000);
    await rig.fail(1);
    rig.clock.advance(2_000);
    const listed = (await rig.batches()).map(({ id }) => id);
    expect(listed).toHaveLength(2);
    rig.clock.advance(GIVEN_FOR_MS);
    expect((await rig.batches(1)).map(({ id }) => id)).toEqual(listed.slice(0, 1));
    await rig.handover.markHandedOver(listed.slice(0, 1));
    await rig.handover.markHandedOver([...listed.slice(0, 1), 'bat_of_nobody']);
    expect((await rig.batches()).map(({ id }) => id)).toEqual(listed.slice(1));
  });

  test('are given to one caller at a time', async () => {
    const rig = await failing(250);
    rig.clock.advance(2_000);
    const together = await Promise.all([rig.batches(1), rig.batches(1)]);
    const next = await rig.batches(1);
    expect(next).toHaveLength(1);
    const given = [...together.flat(), ...next, ...(await rig.batches())];
    expect(given).toHaveLength(3);
    expect(new Set(given.map(({ id }) => id)).size).toBe(3);
    rig.clock.advance(GIVEN_FOR_MS - 1);
    expect(await rig.batches()).toEqual([]);
    rig.clock.advance(1);
    expect(await rig.batches()).toHaveLength(3);
    rig.clock.advance(-86_400_000);
    expect(await rig.batches()).toHaveLength(2);
  });

  test('are given to no caller who has hung up', async () => {
    const rig = await failing();
    rig.clock.advance(2_000);
    expect(await rig.handover.claim(100, LONGER_THAN_A_TEST_MS, AbortSignal.abort())).toEqual([]);
    expect(await rig.batches()).toHaveLength(1);
  });

  test('fill a batch up to a hundred, which is handed over at once', async () => {
    const rig = await failing(101);
    const [full, ...others] = await rig.batches();
    expect(others).toEqual([]);
    expect(full?.deliveries).toHaveLength(100);
    rig.clock.advance(GIVEN_FOR_MS);
    const sizes = (await rig.batches()).map(({ deliveries }) => deliveries.length);
    expect(sizes.sort()).toEqual([1, 100]);
  });

  test('share no batch with those of another subscription', async () => {
    const rig = await failing();
    await rig.subscribe();
    await rig.fail(2);
    rig.clock.advance(2_000);
    const batches = await rig.batches();
    expect(batches.map(({ deliveries }) => deliveries.length).sort()).toEqual([2, 3]);
  });

  test('are waited for', async () => {
    const rig = await failing();
    const waiting = rig.handover.claim(100, LONGER_THAN_A_TEST_MS, PATIENT);
    rig.clock.advance(2_000);
    expect(await waiting).toHaveLength(1);
  });

  test('are waited for until the caller hangs up or nothing more is handed out', async () => {
    const rig = await failing();
    const caller = new AbortController();
    const waiting = [
      rig.handover.claim(100, LONGER_THAN_A_TEST_MS, caller.signal),
      rig.handover.claim(100, LONGER_THAN_A_TEST_MS, PATIENT),
    ];
    caller.abort();
    expect(await waiting[0]).toEqual([]);
    rig.deliveriesDue.close();
    expect(await waiting[1]).toEqual([]);
  });

  test('of which all have ended meanwhile need no workflow', async () => {
    const rig = await failing(2);
    await rig.giveUp(rig.ids[0] as never);
    await rig.record(succeeded(rig.ids[1] as never));
    rig.clock.advance(2_000);
    expect(await rig.batches()).toEqual([]);
    const rows = await rig.database.reader.selectFrom('retry_batches').selectAll().execute();
    expect(rows).toMatchObject([{ handed_over_at: rig.clock.now() }]);
  });

  test('of which all have ended do not keep a later one waiting', async () => {
    const rig = await failing(0);
    for (let each = 0; each < 20; each += 1) {
      await rig.giveUp((await rig.fail(1))[0] as never);
      rig.clock.advance(2_000);
    }
    const open = await rig.fail(1);
    rig.clock.advance(2_000);
    const handover = new RetryHandover(rig.dependencies, LONGER_THAN_A_TEST_MS);
    const batches = await handover.claim(1, LONGER_THAN_A_TEST_MS, PATIENT);
    expect(batches.flatMap(({ deliveries }) => deliveries.map(({ id }) => id))).toEqual(open);
  });

  test('are shown by their batch as they are now, with how the last attempt at each went', async () => {
    const rig = await failing(2);
    const batchId = (await rig.delivery(rig.ids[0] as string)).retry_batch_id as string;
    await rig.begin(rig.ids[0] as never, 2);
    expect((await rig.handover.get(batchId)).deliveries).toMatchObject([
      {
        ...{ id: rig.ids[0], attemptsBegun: 2, leaseUntil: rig.clock.now() + LEASE_MS },
        ...{ nextAttemptAt: null, lastOutcome: null, lastHttpStatus: null },
      },
      { id: rig.ids[1], attemptsBegun: 1, leaseUntil: null, lastOutcome: 'STATUS_REFUSED' },
    ]);
    await rig.record(refused(rig.ids[0] as never, 2, 503));
    expect((await rig.handover.get(batchId)).deliveries).toMatchObject([
      {
        ...{ attemptsBegun: 2, leaseUntil: null, nextAttemptAt: rig.clock.now() + 300_000 },
        ...{ lastOutcome: 'STATUS_REFUSED', lastHttpStatus: 503 },
      },
      { attemptsBegun: 1 },
    ]);
    const unknown = rig.handover.get('bat_of_nobody');
    await expect(unknown).rejects.toMatchObject({ code: ErrorCode.RETRY_BATCH_NOT_FOUND });
  });
});
