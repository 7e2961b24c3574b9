import { expect, test } from '@jest/globals';
import type { DeliveryId } from '../../../../../generated/ids.js';
import { newPublicId } from '../../../../../src/identifiers/public-id.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { LEASE_MS, refused, sendingRig, succeeded } from './rig.js';

describeEachDatabase('the end of an attempt', (under) => {
  async function claimed() {
    const rig = await sendingRig(under);
    const subscription = await rig.subscribe();
    await rig.happen();
    return { ...rig, subscriptionId: subscription, id: await rig.claimOne() };
  }

  test('delivers when it succeeded, and is kept with what the receiver answered', async () => {
    const rig = await claimed();
    const startedAt = rig.clock.now();
    rig.clock.advance(20);
    const progress = await rig.record(succeeded(rig.id));
    const now = rig.clock.now();
    expect(progress).toMatchObject([
      { id: rig.id, status: 'DELIVERED', attemptsBegun: 1, leaseUntil: null, nextAttemptAt: null },
    ]);
    expect(await rig.delivery(rig.id)).toMatchObject({
      ...{ status: 'DELIVERED', attempts_begun: 1, attempt_started_at: null, lease_until: null },
      ...{ next_attempt_at: null, retry_batch_id: null, ended_at: now },
    });
    expect(await rig.attempts(rig.id)).toEqual([
      {
        ...{
          delivery_seq: expect.any(Number),
          number: 1,
          started_at: startedAt,
          ended_at: now,
          outcome: 'SUCCEEDED',
        },
        ...{ duration_ms: 12, http_status: 200, message: null },
        response_start: Buffer.from('ok').toString('base64'),
      },
    ]);
  });

  test('puts the next one off when it failed, and gives up after the third', async () => {
    const rig = await claimed();
    await rig.record(refused(rig.id));
    const first = await rig.delivery(rig.id);
    expect(first).toMatchObject({ status: 'PENDING', attempts_begun: 1, lease_until: null, ended_at: null });
    expect(first.next_attempt_at).toBe(rig.clock.now() + 30_000);
    rig.clock.advance(30_000);
    expect(await rig.begin(rig.id, 2)).toBe(2);
    expect((await rig.delivery(rig.id)).next_attempt_at).toBeNull();
    await rig.record(refused(rig.id, 2));
    const second = await rig.delivery(rig.id);
    expect(second.next_attempt_at).toBe(rig.clock.now() + 300_000);
    expect(second.retry_batch_id).toBe(first.retry_batch_id);
    await rig.begin(rig.id, 3);
    expect(await rig.record(refused(rig.id, 3))).toMatchObject([{ status: 'EXHAUSTED', attemptsBegun: 3 }]);
    expect(await rig.delivery(rig.id)).toMatchObject({
      ...{ status: 'EXHAUSTED', lease_until: null, next_attempt_at: null, ended_at: rig.clock.now() },
    });
    expect((await rig.attempts(rig.id)).map(({ number, message }) => ({ number, message }))).toEqual(
      [1, 2, 3].map((number) => ({ number, message: 'The receiver answered 500.' })),
    );
    expect((await rig.claim()).deliveries).toEqual([]);
  });

  test('counts once, however often its result is reported again', async () => {
    const rig = await claimed();
    await rig.record(refused(rig.id));
    const before = await rig.delivery(rig.id);
    rig.clock.advance(7);
    const again = await rig.record(refused(rig.id), refused(rig.id, 1, 404), refused(rig.id, 1, 410));
    expect(again).toMatchObject(Array(3).fill({ status: 'PENDING', nextAttemptAt: before.next_attempt_at }));
    expect(await rig.delivery(rig.id)).toEqual(before);
    expect(await rig.attempts(rig.id)).toMatchObject([{ http_status: 500 }]);
    expect(await rig.subscription(rig.subscriptionId)).toMatchObject({ status: 'ACTIVE' });
  });

  test('counts once when its result is reported concurrently', async () => {
    const rig = await claimed();
    await Promise.all(Array.from({ length: 20 }, () => rig.record(refused(rig.id))));
    expect(await rig.attempts(rig.id)).toHaveLength(1);
    const batches = await rig.database.reader.selectFrom('retry_batches').selectAll().execute();
    expect(batches).toMatchObject([{ size: 1 }]);
  });

  test('is of no attempt that never began, nor of a delivery that does not exist', async () => {
    const rig = await claimed();
    const before = await rig.delivery(rig.id);
    const unknown = newPublicId('DeliveryId');
    const answers = await rig.record(succeeded(rig.id, 2), succeeded(unknown), refused(rig.id, 3));
    expect(answers.map(({ id }) => id)).toEqual([rig.id, rig.id]);
    expect(await rig.delivery(rig.id)).toEqual(before);
    expect(await rig.attempts(rig.id)).toEqual([]);
  });

  test('keeps 16 KiB of the answer for 20 failures of a subscription in an hour, otherwise 1 KiB', async () => {
    const rig = await claimed();
    const keptOf = async (id: DeliveryId) => {
      const { attempt } = refused(id);
      await rig.record({ deliveryId: id, attempt: { ...attempt, responseStart: Buffer.alloc(20_000, 'x') } });
      await rig.giveUp(id);
      const [kept] = await rig.attempts(id);
      return Buffer.from(kept?.response_start ?? '', 'base64').length;
    };
    const nextOne = async () => {
      await rig.happen();
      return rig.claimOne();
    };
    const kept = [await keptOf(rig.id)];
    while (kept.length < 21) {
      kept.push(await keptOf(await nextOne()));
    }
    expect(kept).toEqual([...Array(20).fill(16_384), 1_024]);
    rig.clock.advance(3_600_000);
    expect(await keptOf(await nextOne())).toBe(16_384);
  });

  test('delivers after its lease was over, and what was written of it is put right', async () => {
    const rig = await claimed();
    const claimedAt = rig.clock.now();
    rig.clock.advance(LEASE_MS);
    await rig.claim();
    expect(await rig.attempts(rig.id)).toMatchObject([{ outcome: 'INTERRUPTED' }]);
    rig.clock.advance(3_600_000);
    expect(await rig.record(succeeded(rig.id))).toMatchObject([{ status: 'DELIVERED', nextAttemptAt: null }]);
    expect(await rig.attempts(rig.id)).toMatchObject([
      {
        ...{ number: 1, outcome: 'SUCCEEDED', http_status: 200 },
        ...{ started_at: claimedAt, ended_at: rig.clock.now() },
      },
    ]);
    expect(await rig.begin(rig.id, 2)).toBeUndefined();
  });

  test('put right after the clock was set back does not end before it began', async () => {
    const rig = await claimed();
    rig.clock.advance(LEASE_MS);
    await rig.claim();
    rig.clock.advance(-3_600_000);
    const now = rig.clock.now();
    await rig.record(succeeded(rig.id));
    expect(await rig.attempts(rig.id)).toMatchObject([
      { outcome: 'SUCCEEDED', started_at: now, ended_at: now },
    ]);
  });

  test('is counted once for its delivery, also where a success comes late', async () => {
    const rig = await claimed();
    const ended: unknown[] = [];
    rig.dependencies.onEnded = (...end) => ended.push(end);
    await rig.happen();
    const other = await rig.claimOne();
    await rig.giveUp(rig.id);
    await rig.record(succeeded(rig.id), succeeded(other));
    expect(await rig.delivery(rig.id)).toMatchObject({ status: 'DELIVERED' });
    expect(ended).toEqual([
      ['EXHAUSTED', 1],
      ['DELIVERED', 1],
    ]);
  });

  test('delivers while a later attempt runs, which is still recorded and changes nothing', async () => {
    const rig = await claimed();
    rig.clock.advance(LEASE_MS);
    await rig.claim();
    await rig.begin(rig.id, 2);
    const leaseUntil = rig.clock.now() + LEASE_MS;
    expect(await rig.record(succeeded(rig.id, 1))).toMatchObject([{ status: 'DELIVERED', leaseUntil }]);
    await rig.record(refused(rig.id, 2));
    expect(await rig.delivery(rig.id)).toMatchObject({ status: 'DELIVERED', lease_until: null });
    expect((await rig.attempts(rig.id)).map(({ outcome }) => outcome)).toEqual([
      'SUCCEEDED',
      'STATUS_REFUSED',
    ]);
  });

  test.each(['EXHAUSTED', 'HELD', 'CANCELLED'] as const)(
    'delivers what is %s meanwhile, while a failure leaves it so',
    async (status) => {
      const rig = await claimed();
      await rig.happen();
      const other = await rig.claimOne();
      const ended_at = status === 'HELD' ? null : rig.clock.now();
      await rig.database.write((writer) =>
        writer.updateTable('deliveries').set({ status, ended_at }).execute(),
      );
      const ended: unknown[] = [];
      rig.dependencies.onEnded = (...end) => ended.push(end);
      await rig.record(succeeded(rig.id), refused(other));
      expect(await rig.delivery(rig.id)).toMatchObject({ status: 'DELIVERED', lease_until: null });
      expect(await rig.delivery(other)).toMatchObject({ status, lease_until: null, next_attempt_at: null });
      expect(await rig.attempts(other)).toHaveLength(1);
      // An exhausted one is counted at its end.
      expect(ended).toEqual(status === 'EXHAUSTED' ? [] : [['DELIVERED', 1]]);
    },
  );

  test('comes with many others in one call', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    for (let index = 0; index < 70; index += 1) {
      await rig.happen();
    }
    const ids = (await rig.claim({ maxRunningPerSubscription: 100 })).deliveries.map(({ id }) => id);
    const results = ids.map((id, index) => (index % 7 === 0 ? refused(id) : succeeded(id)));
    const progress = await rig.record(...results);
    expect(progress.map(({ id }) => id)).toEqual(ids);
    expect(progress.filter(({ status }) => status === 'PENDING')).toHaveLength(10);
    const rows = await rig.deliveries();
    expect(rows.filter(({ status }) => status === 'DELIVERED')).toHaveLength(60);
    expect(new Set(rows.map(({ retry_batch_id }) => retry_batch_id)).size).toBe(2);
    const { count } = await rig.database.reader
      .selectFrom('delivery_attempts')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(70);
  });
});

describeEachDatabase('giving up', (under) => {
  test('ends deliveries without further attempts, and leaves those that have ended', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    const waiting = await rig.claimOne();
    await rig.record(refused(waiting));
    await rig.happen();
    const delivered = await rig.claimOne();
    await rig.record(succeeded(delivered));
    const unknown = newPublicId('DeliveryId');
    const progress = await rig.giveUp(delivered, unknown, waiting);
    expect(progress).toMatchObject([
      { id: waiting, status: 'EXHAUSTED', nextAttemptAt: null },
      { id: delivered, status: 'DELIVERED' },
    ]);
    expect(await rig.delivery(waiting)).toMatchObject({ status: 'EXHAUSTED', ended_at: rig.clock.now() });
    expect(await rig.begin(waiting, 2)).toBeUndefined();
  });

  test.each([
    ['still delivers when it succeeds', succeeded, 'DELIVERED'],
    ['is recorded when it fails', refused, 'EXHAUSTED'],
  ] as const)('leaves the attempt that runs, which %s', async (_, end, status) => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    const id: DeliveryId = await rig.claimOne();
    expect(await rig.giveUp(id)).toMatchObject([{ status: 'EXHAUSTED', leaseUntil: expect.any(Number) }]);
    await rig.record(end(id));
    expect(await rig.delivery(id)).toMatchObject({ status, lease_until: null, next_attempt_at: null });
    expect(await rig.attempts(id)).toHaveLength(1);
  });
});
