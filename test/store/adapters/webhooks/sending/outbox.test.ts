import { expect, test } from '@jest/globals';
import type { DeliveryId } from '../../../../../generated/ids.js';
import { giveUpDelivery } from '../../../../../src/domain/webhooks/sending/interventions.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { refused, sendingRig, succeeded } from './rig.js';

describeEachDatabase('what waits to be sent', (under) => {
  test('is nothing at first', async () => {
    const rig = await sendingRig(under);
    expect(await rig.dependencies.unitOfWork.rows.outbox()).toEqual({
      counts: { first: 0, later: 0 },
      oldest: [],
    });
  });

  test('is counted, with the oldest before its first attempt and after it began', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe({ updated_at: 0 });
    const began = rig.clock.now();
    await rig.happen();
    await rig.claimOne();
    rig.clock.advance(1_000);
    await rig.happen();
    rig.clock.advance(1_000);
    await rig.happen();
    const { counts, oldest } = await rig.dependencies.unitOfWork.rows.outbox();
    expect(counts).toEqual({ first: 2, later: 1 });
    expect(oldest).toHaveLength(2);
    expect(oldest).toContainEqual({ stage: 'first', isFailing: false, since: began + 1_000 });
    expect(oldest).toContainEqual({ stage: 'later', isFailing: false, since: began });
  });

  test('is told apart for subscriptions that fail, and is the oldest over all of them', async () => {
    const rig = await sendingRig(under);
    const began = rig.clock.now();
    for (let each = 0; each < 250; each += 1) {
      await rig.subscribe({ updated_at: 0, ...(each % 2 === 1 && { failing_since: began }) });
    }
    await rig.subscribe({ status: 'DISABLED' });
    await rig.happen();
    rig.clock.advance(5_000);
    await rig.happen();
    const { counts, oldest } = await rig.dependencies.unitOfWork.rows.outbox();
    expect(counts).toEqual({ first: 500, later: 0 });
    expect(oldest.map(({ isFailing, since }) => [isFailing, since]).sort()).toEqual([
      [false, began],
      [true, began],
    ]);
  });

  test('waits since its subscription was changed, where that is later than its event', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe({ updated_at: rig.clock.now() + 60_000 });
    await rig.happen();
    const [first] = (await rig.dependencies.unitOfWork.rows.outbox()).oldest;
    expect(first?.since).toBe(rig.clock.now() + 60_000);
    expect((await rig.claim()).deliveries).toMatchObject([{ waitsSince: rig.clock.now() + 60_000 }]);
  });

  test('has no time in a replay, whose deliveries take turns', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    await rig.database.write((writer) =>
      writer.updateTable('deliveries').set({ origin: 'REPLAY' }).execute(),
    );
    const [delivery] = (await rig.claim()).deliveries;
    expect(delivery).toMatchObject({ number: 1 });
    expect(delivery).not.toHaveProperty('waitsSince');
  });
});

describeEachDatabase('the end of deliveries', (under) => {
  test('is told once for each, after its commit', async () => {
    const rig = await sendingRig(under);
    const ended: [string, number][] = [];
    rig.dependencies.onEnded = (status, count) => ended.push([status, count]);
    await rig.subscribe();
    for (let each = 0; each < 4; each += 1) {
      await rig.happen();
    }
    const [one, other, third, fourth] = (await rig.claim()).deliveries.map(({ id }) => id);
    await rig.record(succeeded(one as DeliveryId), succeeded(other as DeliveryId));
    await rig.record(succeeded(one as DeliveryId), refused(third as DeliveryId));
    expect(ended).toEqual([['DELIVERED', 2]]);
    await rig.giveUp(third as DeliveryId, third as DeliveryId, one as DeliveryId);
    await giveUpDelivery(
      rig.dependencies,
      { type: 'service_token', id: 'tok_1', requestId: 'r' },
      fourth ?? '',
      {},
    );
    expect(ended.slice(1)).toEqual([
      ['EXHAUSTED', 1],
      ['EXHAUSTED', 1],
    ]);
  });

  test('is not told when nothing ends', async () => {
    const rig = await sendingRig(under);
    const ended: unknown[] = [];
    rig.dependencies.onEnded = (...end) => ended.push(end);
    await rig.giveUp('whd_1' as DeliveryId);
    expect(ended).toEqual([]);
  });
});
