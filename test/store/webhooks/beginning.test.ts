import { expect, test } from '@jest/globals';
import type { DeliveryId } from '../../../generated/ids.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import { describeEachDatabase } from '../../support/databases.js';
import { LEASE_MS, refused, sendingRig, succeeded, twoSendingNodes } from './sending-rig.js';

describeEachDatabase('a later attempt', (under) => {
  async function failed() {
    const rig = await sendingRig(under);
    const subscriptionId = await rig.subscribe();
    await rig.happen();
    const id = await rig.claimOne();
    await rig.record(refused(id));
    return { ...rig, subscriptionId, id };
  }
  type Failed = Awaited<ReturnType<typeof failed>>;

  test('begins before it is due too, with the address as it is now', async () => {
    const rig = await failed();
    const url = 'https://moved.example.com/in';
    await rig.database.write((writer) => writer.updateTable('subscriptions').set({ url }).execute());
    const [event] = await rig.database.reader.selectFrom('events').select('id').execute();
    const leaseUntil = rig.clock.now() + LEASE_MS;
    expect(await rig.begin(rig.id, 2)).toMatchObject({
      begun: {
        target: { url, subscriptionId: rig.subscriptionId, signingSecrets: [expect.any(Buffer)] },
        body: { eventId: event?.id, eventType: 'user.updated', body: expect.any(Buffer) },
        leaseUntil,
      },
    });
    expect(await rig.delivery(rig.id)).toMatchObject({
      ...{ attempts_begun: 2, attempt_started_at: rig.clock.now(), lease_until: leaseUntil },
      next_attempt_at: null,
    });
  });

  test('begins once, of twenty beginnings at the same time on two nodes', async () => {
    const { one, other } = await twoSendingNodes(under);
    await one.subscribe();
    await one.happen();
    const id = await one.claimOne();
    await one.record(refused(id));
    for (const number of [2, 3]) {
      const beginnings = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : other).begin(id, number)),
      );
      const begun = beginnings.filter((beginning) => 'begun' in beginning);
      expect(begun).toHaveLength(1);
      const reasons = beginnings.flatMap((one) => ('refused' in one ? one.refused.reason : []));
      expect(new Set(reasons)).toEqual(new Set(['ALREADY_BEGUN']));
      await one.record(refused(id, number));
    }
    expect(await one.delivery(id)).toMatchObject({ status: 'EXHAUSTED', attempts_begun: 3 });
  });

  const unknown = newPublicId('DeliveryId');
  test.each<
    [reason: string, prepare: (rig: Failed) => Promise<unknown>, id: DeliveryId | undefined, number: number]
  >([
    ['NOT_FOUND', async () => undefined, unknown, 2],
    ['ALREADY_BEGUN', ({ begin, id }) => begin(id, 2), undefined, 2],
    ['LEASE_RUNNING', ({ begin, id }) => begin(id, 2), undefined, 3],
    ['OUT_OF_TURN', async () => undefined, undefined, 3],
    ['ENDED', ({ record, id }) => record(succeeded(id)), undefined, 2],
    ['ENDED', ({ giveUp, id }) => giveUp(id), undefined, 2],
  ])('is refused: %s', async (reason, prepare, id, number) => {
    const rig = await failed();
    await prepare(rig);
    const before = await rig.delivery(rig.id);
    const answer = await rig.begin(id ?? rig.id, number);
    const delivery = id === undefined ? expect.objectContaining({ id: rig.id }) : undefined;
    expect(answer).toEqual({ refused: { reason, delivery } });
    expect(await rig.delivery(rig.id)).toEqual(before);
  });

  test('begins when the lease of the one before is over, which then counts as interrupted', async () => {
    const rig = await failed();
    await rig.begin(rig.id, 2);
    rig.clock.advance(LEASE_MS - 1);
    expect(await rig.begin(rig.id, 3)).toMatchObject({ refused: { reason: 'LEASE_RUNNING' } });
    rig.clock.advance(1);
    expect(await rig.begin(rig.id, 3)).toHaveProperty('begun');
    expect((await rig.attempts(rig.id)).map(({ outcome }) => outcome)).toEqual([
      'STATUS_REFUSED',
      'INTERRUPTED',
    ]);
  });

  test('is never a fourth: the third, once its lease is over, was the last', async () => {
    const rig = await failed();
    await rig.begin(rig.id, 2);
    await rig.record(refused(rig.id, 2));
    await rig.begin(rig.id, 3);
    rig.clock.advance(LEASE_MS);
    expect(await rig.begin(rig.id, 3)).toMatchObject({
      refused: { reason: 'ENDED', delivery: { status: 'EXHAUSTED', attemptsBegun: 3 } },
    });
    expect(await rig.begin(rig.id, 4)).toMatchObject({ refused: { reason: 'ENDED' } });
    expect(await rig.attempts(rig.id)).toHaveLength(3);
  });

  test('begins with others in one transaction, and each hears its own answer', async () => {
    const rig = await failed();
    await rig.happen();
    const ended = await rig.claimOne();
    await rig.record(succeeded(ended));
    await rig.happen();
    const lapsed = await rig.claimOne();
    await rig.record(refused(lapsed));
    await rig.begin(lapsed, 2);
    rig.clock.advance(LEASE_MS);
    const beginnings = await rig.beginAll([
      { id: ended, number: 2 },
      { id: lapsed, number: 3 },
      { id: rig.id, number: 2 },
      { id: unknown, number: 2 },
    ]);
    expect(beginnings).toEqual([
      { refused: { reason: 'ENDED', delivery: expect.objectContaining({ id: ended }) } },
      { begun: expect.objectContaining({ leaseUntil: rig.clock.now() + LEASE_MS }) },
      { begun: expect.objectContaining({ leaseUntil: rig.clock.now() + LEASE_MS }) },
      { refused: { reason: 'NOT_FOUND', delivery: undefined } },
    ]);
    expect(await rig.delivery(lapsed)).toMatchObject({ attempts_begun: 3 });
    expect(await rig.delivery(rig.id)).toMatchObject({ attempts_begun: 2 });
    expect((await rig.attempts(lapsed)).at(-1)).toMatchObject({ number: 2, outcome: 'INTERRUPTED' });
  });

  test('does not begin either where that of another, asked for with it, cannot', async () => {
    const rig = await failed();
    await rig.happen();
    const unsigned = await rig.claimOne();
    await rig.record(refused(unsigned));
    await rig.begin(unsigned, 2);
    rig.clock.advance(LEASE_MS);
    await rig.database.write((writer) => writer.deleteFrom('subscription_secrets').execute());
    const begin = rig.beginAll([
      { id: rig.id, number: 2 },
      { id: unsigned, number: 3 },
    ]);
    await expect(begin).rejects.toThrow('no secret to sign with');
    expect(await rig.delivery(rig.id)).toMatchObject({ attempts_begun: 1, lease_until: null });
    expect(await rig.delivery(unsigned)).toMatchObject({ attempts_begun: 2, lease_until: null });
  });

  test('does not begin for a caller who has gone', async () => {
    const rig = await failed();
    const before = await rig.delivery(rig.id);
    await expect(rig.beginAll([{ id: rig.id, number: 2 }], AbortSignal.abort())).rejects.toMatchObject({
      internal: 'whoever wanted to begin attempts has gone',
    });
    expect(await rig.delivery(rig.id)).toEqual(before);
  });

  test('of many deliveries begins once, whoever asks for them in whichever order', async () => {
    const { one, other } = await twoSendingNodes(under);
    await one.subscribe();
    for (let count = 0; count < 32; count += 1) {
      await one.happen();
    }
    const ids = (await one.claim()).deliveries.map(({ id }) => id);
    await one.record(...ids.map((id) => refused(id)));
    const attempts = ids.map((id) => ({ id, number: 2 }));
    const beginnings = await Promise.all([one.beginAll(attempts), other.beginAll(attempts.toReversed())]);
    expect(beginnings.map((some) => some.filter((beginning) => 'begun' in beginning).length).sort()).toEqual([
      0, 32,
    ]);
  });

  test('does not begin where there is nothing to sign with', async () => {
    const rig = await failed();
    await rig.database.write((writer) => writer.deleteFrom('subscription_secrets').execute());
    const before = await rig.delivery(rig.id);
    await expect(rig.begin(rig.id, 2)).rejects.toThrow('no secret to sign with');
    expect(await rig.delivery(rig.id)).toEqual(before);
  });
});
