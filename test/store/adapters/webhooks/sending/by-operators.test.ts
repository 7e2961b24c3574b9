import { expect, test } from '@jest/globals';
import type { Actor } from '../../../../../src/domain/operator/audit.js';
import { giveUpDelivery, retryDelivery } from '../../../../../src/domain/webhooks/sending/interventions.js';
import { ErrorCode } from '../../../../../src/errors/service-error.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { refused, sendingRig, succeeded } from './rig.js';

const ACTOR: Actor = { type: 'service_token', id: 'tok_1', requestId: 'request-1' };

describeEachDatabase('an operator', (under) => {
  /** A delivery with a failed first attempt. */
  async function failed() {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    const id = await rig.claimOne();
    await rig.record(refused(id));
    const audited = async () => {
      const rows = await rig.database.reader
        .selectFrom('audit_events')
        .select(['type', 'subject_id'])
        .execute();
      return rows.map((row) => [row.type, row.subject_id]);
    };
    return {
      ...rig,
      ...{ id, audited },
      retry: (deliveryId: string = id) => retryDelivery(rig.dependencies, ACTOR, deliveryId, {}),
      end: (deliveryId: string = id) => giveUpDelivery(rig.dependencies, ACTOR, deliveryId, {}),
      claimed: async () => (await rig.claim()).deliveries.map(({ number }) => number),
    };
  }

  test('makes the next attempt due at once, which wakes a claim that waits', async () => {
    const rig = await failed();
    expect(await rig.claimed()).toEqual([]);
    const waiting = rig.claim({ maxWaitMs: 60_000 });
    await rig.retry();
    expect((await waiting).deliveries).toMatchObject([{ id: rig.id, number: 2 }]);
    expect(await rig.audited()).toEqual([['delivery.retried', rig.id]]);
  });

  test('may ask twice for one attempt, and gets one, with one record', async () => {
    const rig = await failed();
    await rig.retry();
    await rig.retry();
    expect(await rig.audited()).toEqual([['delivery.retried', rig.id]]);
    expect(await rig.claimed()).toEqual([2]);
    expect(await rig.claimed()).toEqual([]);
  });

  test('hurries no first attempt, which is due already, and leaves no record', async () => {
    const rig = await failed();
    await rig.happen();
    const waiting = rig.database.reader.selectFrom('deliveries').select('id').where('attempts_begun', '=', 0);
    await rig.retry((await waiting.executeTakeFirstOrThrow()).id);
    expect(await rig.claimed()).toEqual([1]);
    expect(await rig.audited()).toEqual([]);
  });

  test('gets no fourth attempt', async () => {
    const rig = await failed();
    for (const number of [2, 3]) {
      await rig.retry();
      expect(await rig.claimed()).toEqual([number]);
      await rig.record(refused(rig.id, number));
    }
    await expect(rig.retry()).rejects.toMatchObject({
      code: ErrorCode.TRANSITION_REFUSED,
      message: 'The delivery is exhausted; only a pending one waits for attempts.',
    });
  });

  test('hurries nothing to a disabled subscription', async () => {
    const rig = await failed();
    await rig.database.write((writer) =>
      writer.updateTable('subscriptions').set({ status: 'DISABLED' }).execute(),
    );
    await expect(rig.retry()).rejects.toMatchObject({ code: ErrorCode.SUBSCRIPTION_DISABLED });
    expect(await rig.audited()).toEqual([]);
  });

  test('hurries no attempt that is in progress', async () => {
    const rig = await failed();
    await rig.retry();
    await rig.claim();
    await expect(rig.retry()).rejects.toMatchObject({
      code: ErrorCode.TRANSITION_REFUSED,
      message: 'An attempt is in progress.',
    });
  });

  test('ends a delivery, which is never claimed again', async () => {
    const rig = await failed();
    await rig.end();
    expect(await rig.delivery(rig.id)).toMatchObject({
      ...{ status: 'EXHAUSTED', attempts_begun: 1, next_attempt_at: null, ended_at: rig.clock.now() },
    });
    rig.clock.advance(1_000_000);
    expect(await rig.claimed()).toEqual([]);
    expect(await rig.audited()).toEqual([['delivery.given_up', rig.id]]);
  });

  test('ends a delivery during an attempt, and the success of the attempt still counts', async () => {
    const rig = await failed();
    await rig.retry();
    await rig.claim();
    await rig.end();
    await rig.record(succeeded(rig.id, 2));
    expect(await rig.delivery(rig.id)).toMatchObject({ status: 'DELIVERED' });
  });

  test.each(['retry', 'end'] as const)(
    'is refused a %s of what is unknown or over, without a record',
    async (act) => {
      const rig = await failed();
      await rig.retry();
      await rig.claim();
      await rig.record(succeeded(rig.id, 2));
      const before = await rig.audited();
      await expect(rig[act]()).rejects.toMatchObject({
        code: ErrorCode.TRANSITION_REFUSED,
        message: 'The delivery is delivered; only a pending one waits for attempts.',
      });
      await expect(rig[act]('whd_none')).rejects.toMatchObject({ code: ErrorCode.DELIVERY_NOT_FOUND });
      expect(await rig.audited()).toEqual(before);
    },
  );
});
