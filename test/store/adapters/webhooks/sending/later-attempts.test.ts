import { expect, test } from '@jest/globals';
import { type Kysely, Migrator } from 'kysely';
import { newPublicId } from '../../../../../src/identifiers/public-id.js';
import { sendingUnitOfWork } from '../../../../../src/store/adapters/webhooks/sending/unit-of-work.js';
import { migrateToLatest } from '../../../../../src/store/migrate.js';
import { migrations } from '../../../../../src/store/migrations/index.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { LONGER_THAN_A_TEST_MS } from '../../../../support/eventually.js';
import type { Row } from '../../../rows.js';
import { newConnection } from '../subscriptions/rig.js';
import {
  LEASE_MS,
  PATIENT,
  plantSubscription,
  refused,
  SWEEP_PAUSE_MS,
  sendingNode,
  sendingRig,
  succeeded,
  twoSendingNodes,
} from './rig.js';

const SECOND_MS = 30_000;
const GRACE_MS = 60_000;

describeEachDatabase('a later attempt', (under) => {
  async function failed(withWorkflows = false) {
    const rig = await sendingRig(under);
    if (withWorkflows) {
      await rig.handover.claim(100, 0, PATIENT);
    }
    const subscriptionId = await rig.subscribe();
    await rig.happen();
    const id = await rig.claimOne();
    await rig.record(refused(id));
    const handOver = async () => {
      rig.clock.advance(2_000);
      const batches = await rig.handover.claim(100, 0, PATIENT);
      await rig.handover.markHandedOver(batches.map((batch) => batch.id));
    };
    const claimed = async () => (await rig.claim()).deliveries.map(({ number }) => number);
    return { ...rig, subscriptionId, id, handOver, claimed };
  }

  test('is claimed when it is due and not before, with the address as it is then', async () => {
    const rig = await failed();
    const url = 'https://moved.example.com/in';
    await rig.database.write((writer) => writer.updateTable('subscriptions').set({ url }).execute());
    const [event] = await rig.database.reader.selectFrom('events').select('id').execute();
    rig.clock.advance(SECOND_MS - 1);
    expect(await rig.claimed()).toEqual([]);
    rig.clock.advance(1);
    const leaseUntil = rig.clock.now() + LEASE_MS;
    expect(await rig.claim()).toMatchObject({
      leaseUntil,
      deliveries: [{ id: rig.id, number: 2, target: 0, body: 0 }],
      targets: [{ url, subscriptionId: rig.subscriptionId, signingSecrets: [expect.any(Buffer)] }],
      bodies: [{ eventId: event?.id, eventType: 'user.updated', body: expect.any(Buffer) }],
    });
    expect(await rig.delivery(rig.id)).toMatchObject({
      ...{ attempts_begun: 2, attempt_started_at: rig.clock.now(), lease_until: leaseUntil },
      ...{ next_attempt_at: null, grace_ms: 0 },
    });
  });

  test('is claimed a minute after it was due where a workflow has it and does nothing', async () => {
    const rig = await failed(true);
    await rig.handOver();
    rig.clock.advance(SECOND_MS + GRACE_MS - 2_001);
    expect(await rig.claimed()).toEqual([]);
    rig.clock.advance(1);
    expect(await rig.claimed()).toEqual([2]);
    await rig.handover.claim(100, 0, PATIENT);
    await rig.record(refused(rig.id, 2));
    const thirdAt = rig.clock.now() + 300_000;
    expect(await rig.delivery(rig.id)).toMatchObject({
      next_attempt_at: thirdAt,
      grace_ms: GRACE_MS,
    });
  });

  test('is claimed when it is due where batches are given out and not marked, as when Temporal is away', async () => {
    const rig = await failed(true);
    rig.clock.advance(2_000);
    expect(await rig.handover.claim(100, 0, PATIENT)).toHaveLength(1);
    rig.clock.advance(GRACE_MS);
    await rig.handover.claim(100, 0, PATIENT);
    await rig.happen();
    const [second] = (await rig.claim()).deliveries.filter(({ number }) => number === 1);
    await rig.record(refused(second?.id as never));
    expect(await rig.delivery(second?.id as string)).toMatchObject({ grace_ms: 0 });
  });

  test('is claimed at once when a workflow makes it due, and is due then for everyone who looks', async () => {
    const rig = await failed(true);
    await rig.handOver();
    const now = rig.clock.now();
    expect(await rig.makeDue({ id: rig.id, number: 2 })).toMatchObject([
      { id: rig.id, attemptsBegun: 1, nextAttemptAt: now, leaseUntil: null, lastOutcome: 'STATUS_REFUSED' },
    ]);
    expect(await rig.claimed()).toEqual([2]);
  });

  test('only loses its grace when its time asked for it and has not come by the clock of the domain', async () => {
    const rig = await failed(true);
    await rig.handOver();
    const byTime = { id: rig.id, number: 2, bySignal: false };
    const [before] = await rig.makeDue(byTime);
    expect(before?.nextAttemptAt).toBeGreaterThan(rig.clock.now());
    expect(await rig.makeDue(byTime)).toEqual([before]);
    expect(await rig.delivery(rig.id)).toMatchObject({ next_attempt_at: before?.nextAttemptAt, grace_ms: 0 });
    expect(await rig.claimed()).toEqual([]);
    rig.clock.advance((before?.nextAttemptAt ?? 0) - rig.clock.now());
    expect(await rig.claimed()).toEqual([2]);
  });

  test('is claimed at once for a signal', async () => {
    const rig = await failed(true);
    await rig.handOver();
    await rig.makeDue({ id: rig.id, number: 2, bySignal: false });
    await rig.makeDue({ id: rig.id, number: 2, bySignal: true });
    expect(await rig.claimed()).toEqual([2]);
  });

  test('that is made due wakes a claim that waits', async () => {
    const rig = await failed();
    const waiting = rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS });
    await rig.makeDue({ id: rig.id, number: 2 });
    expect((await waiting).deliveries).toMatchObject([{ id: rig.id, number: 2 }]);
  });

  test('that is due by its time ends the wait of a claim', async () => {
    const rig = await failed();
    const waiting = rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS });
    rig.clock.advance(SECOND_MS);
    expect((await waiting).deliveries).toMatchObject([{ id: rig.id, number: 2 }]);
  });

  test('begins once, of twenty claims at the same time on two nodes, and is made due by both', async () => {
    const { one, other } = await twoSendingNodes(under);
    await one.subscribe();
    await one.happen();
    const id = await one.claimOne();
    await one.record(refused(id));
    for (const number of [2, 3]) {
      const begun = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : other).begin(id, number)),
      );
      expect(begun.filter((each) => each !== undefined)).toEqual([number]);
      await one.record(refused(id, number));
    }
    expect(await one.delivery(id)).toMatchObject({ status: 'EXHAUSTED', attempts_begun: 3 });
  });

  type Failed = Awaited<ReturnType<typeof failed>>;
  test.each<[title: string, prepare: (rig: Failed) => Promise<unknown>, number: number]>([
    ['has begun', ({ begin, id }) => begin(id, 2), 2],
    ['comes after one that runs', ({ begin, id }) => begin(id, 2), 3],
    ['is out of turn', async () => undefined, 3],
    ['is of a delivery that has arrived', ({ record, id }) => record(succeeded(id)), 2],
    ['is of a delivery that was given up', ({ giveUp, id }) => giveUp(id), 2],
  ])('is not made due where it %s', async (_, prepare, number) => {
    const rig = await failed();
    await prepare(rig);
    const before = await rig.delivery(rig.id);
    expect(await rig.makeDue({ id: rig.id, number })).toMatchObject([{ id: rig.id, status: before.status }]);
    expect(await rig.delivery(rig.id)).toEqual(before);
    expect(await rig.claimed()).toEqual([]);
  });

  test('of a delivery that is not there is left out of the answer', async () => {
    const rig = await failed();
    const unknown = newPublicId('DeliveryId');
    const found = await rig.makeDue({ id: unknown, number: 2 }, { id: rig.id, number: 2 });
    expect(found.map(({ id }) => id)).toEqual([rig.id]);
  });

  test('is claimed when the lease of the one before is over, which counts as interrupted, and was due', async () => {
    const rig = await failed();
    await rig.begin(rig.id, 2);
    rig.clock.advance(LEASE_MS - 1);
    expect(await rig.begin(rig.id, 3)).toBeUndefined();
    rig.clock.advance(SWEEP_PAUSE_MS);
    expect(await rig.begin(rig.id, 3)).toBeUndefined();
    expect(await rig.begin(rig.id, 3)).toBe(3);
    expect((await rig.attempts(rig.id)).map(({ outcome }) => outcome)).toEqual([
      'STATUS_REFUSED',
      'INTERRUPTED',
    ]);
  });

  test('is never a fourth: the third, once its lease is over, was the last', async () => {
    const rig = await failed();
    await rig.begin(rig.id, 2);
    await rig.record(refused(rig.id, 2));
    expect(await rig.begin(rig.id, 3)).toBe(3);
    rig.clock.advance(LEASE_MS + 1_000);
    expect(await rig.claimed()).toEqual([]);
    expect(await rig.makeDue({ id: rig.id, number: 4 })).toMatchObject([
      { status: 'EXHAUSTED', attemptsBegun: 3 },
    ]);
    // Not even where a fault of ours calls it due.
    await rig.database.write((writer) =>
      writer.updateTable('deliveries').set({ status: 'PENDING', next_attempt_at: 1 }).execute(),
    );
    expect(await rig.claimed()).toEqual([]);
    expect(await rig.attempts(rig.id)).toHaveLength(3);
  });

  test('goes before first ones, and the longest due before others', async () => {
    const rig = await failed();
    await rig.happen();
    const [second] = (await rig.claim()).deliveries;
    rig.clock.advance(7);
    await rig.record(refused(second?.id as never));
    rig.clock.advance(SECOND_MS);
    await rig.happen();
    const claims = [await rig.claim({ freeSlots: 1 }), await rig.claim()];
    const numbers = claims.map(({ deliveries }) =>
      deliveries.map(({ id, number }) => [id === rig.id, number]),
    );
    expect(numbers).toEqual([
      [[true, 2]],
      [
        [false, 2],
        [false, 1],
      ],
    ]);
    expect(claims[1]?.deliveries[0]?.id).toBe(second?.id);
  });

  test('that finds no room in a claim is taken back, and comes with the next', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    for (let count = 0; count < 2; count += 1) {
      await rig.happen({ name: 'x'.repeat(5 * 1_024 * 1_024) });
      await rig.record(refused(await rig.claimOne()));
    }
    rig.clock.advance(SECOND_MS);
    const [first, second] = [await rig.claim(), await rig.claim()].map(({ deliveries }) => deliveries);
    expect([first, second]).toMatchObject([[{ number: 2 }], [{ number: 2 }]]);
    expect(second?.[0]?.id).not.toBe(first?.[0]?.id);
    expect((await rig.deliveries()).map(({ attempts_begun }) => attempts_begun)).toEqual([2, 2]);
  });

  test('has no slots beside those of first ones: all that run to a subscription count', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    for (let count = 0; count < 6; count += 1) {
      await rig.happen();
    }
    const { deliveries } = await rig.claim({ freeSlots: 3 });
    await rig.record(...deliveries.map(({ id }) => refused(id)));
    rig.clock.advance(SECOND_MS);
    const claim = await rig.claim({ maxRunningPerSubscription: 100 });
    expect(claim.deliveries.map(({ number }) => number)).toEqual([2, 2, 2, 1]);
    expect((await rig.claim()).deliveries).toEqual([]);
  });

  test('does not begin where there is nothing to sign with, nor to a subscription that is disabled', async () => {
    const rig = await failed();
    rig.clock.advance(SECOND_MS);
    const before = await rig.delivery(rig.id);
    await rig.database.write((writer) =>
      writer.updateTable('subscriptions').set({ status: 'DISABLED' }).execute(),
    );
    expect(await rig.claimed()).toEqual([]);
    await rig.database.write(async (writer) => {
      await writer.updateTable('subscriptions').set({ status: 'ACTIVE' }).execute();
      await writer.deleteFrom('subscription_secrets').execute();
    });
    expect(await rig.claimed()).toEqual([]);
    expect(await rig.delivery(rig.id)).toEqual(before);
  });

  test('of many deliveries is made due once, whatever the order of concurrent requests', async () => {
    const { one, other } = await twoSendingNodes(under);
    await one.subscribe();
    for (let count = 0; count < 32; count += 1) {
      await one.happen();
    }
    const ids = (await one.claim()).deliveries.map(({ id }) => id);
    await one.record(...ids.map((id) => refused(id)));
    const attempts = ids.map((id) => ({ id, number: 2 }));
    await Promise.all([one.makeDue(...attempts), other.makeDue(...attempts.toReversed())]);
    const [first, second] = await Promise.all([
      one.claim({ totalSlots: 256 }),
      other.claim({ totalSlots: 256 }),
    ]);
    const begun = [...first.deliveries, ...second.deliveries].map(({ id }) => id);
    expect(begun.sort()).toEqual([...ids].sort());
  });

  test('waits on another node too: what one makes due, the other claims', async () => {
    const rig = await failed();
    const other = sendingNode(rig.database, rig.connection, rig.clock);
    const waiting = other.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS });
    await rig.makeDue({ id: rig.id, number: 2 });
    expect((await waiting).deliveries).toMatchObject([{ id: rig.id, number: 2 }]);
  });
});

/** As nodes of the release before write, which know nothing of `grace_ms`. */
describeEachDatabase('attempts that a node of the release before had', (under) => {
  const GRACE = { grace_ms: GRACE_MS };

  /** Deliveries whose second attempt the other node may have, with a grace that this one gave. */
  async function handed(count: number) {
    const rig = await sendingRig(under);
    const subscriptionId = await rig.subscribe();
    for (let index = 0; index < count; index += 1) {
      await rig.happen();
    }
    const { deliveries } = await rig.claim({ totalSlots: 256 });
    const ids = deliveries.map(({ id }) => id);
    await rig.record(...ids.map((id) => refused(id)));
    const write = (set: Row<'deliveries'>) =>
      rig.database.write((writer) =>
        writer.updateTable('deliveries').set(set).where('id', 'in', ids).execute(),
      );
    await write(GRACE);
    const begin = () =>
      write({
        ...{
          attempts_begun: 2,
          attempt_started_at: rig.clock.now(),
          lease_until: rig.clock.now() + LEASE_MS,
        },
        next_attempt_at: null,
      });
    const rest = { attempt_started_at: null, lease_until: null };
    return { ...rig, subscriptionId, ids, write, begin, rest };
  }

  test('and that failed there are claimed, with the grace of before at most', async () => {
    const rig = await handed(1);
    await rig.begin();
    await rig.write({ ...rig.rest, next_attempt_at: rig.clock.now() + SECOND_MS });
    rig.clock.advance(SECOND_MS + GRACE_MS);
    expect((await rig.claim()).deliveries).toMatchObject([{ id: rig.ids[0], number: 3 }]);
  });

  test.each<Row<'deliveries'>>([{ status: 'DELIVERED' }, { status: 'EXHAUSTED' }, { status: 'HELD' }])(
    'and that ended there as %j are not due and take no room from others',
    async (ended) => {
      const rig = await handed(7);
      await rig.begin();
      await rig.write({ ...rig.rest, ...ended, next_attempt_at: null, ended_at: rig.clock.now() });
      rig.clock.advance(SECOND_MS + GRACE_MS);
      expect(await rig.dependencies.unitOfWork.rows.anyDue(rig.clock.now())).toBe(false);
      await rig.happen();
      expect((await rig.claim()).deliveries).toMatchObject([{ number: 1 }]);
    },
  );

  test('are not due once they have ended, even where their time is still in the row', async () => {
    const rig = await handed(7);
    await rig.write({ status: 'EXHAUSTED', next_attempt_at: rig.clock.now() });
    rig.clock.advance(GRACE_MS);
    expect(await rig.dependencies.unitOfWork.rows.anyDue(rig.clock.now())).toBe(false);
    await rig.happen();
    expect((await rig.claim()).deliveries).toMatchObject([{ number: 1 }]);
  });
});

describeEachDatabase('retries that waited before relays claimed them', (under) => {
  test('are due at their time', async () => {
    const database = await under.open(await under.newEmptyPlace());
    // biome-ignore lint/suspicious/noExplicitAny: a schema of an earlier time.
    const earlier = database.patient as unknown as Kysely<any>;
    const before = new Migrator({ db: earlier, provider: { getMigrations: async () => migrations } });
    await before.migrateTo('0015-token-lines');
    const { id, instanceId } = await newConnection(database);
    const subscription = { instance_integration_id: id, instance_id: instanceId };
    const subscription_id = await plantSubscription(database, subscription);
    await earlier
      .insertInto('deliveries')
      .values({
        ...{ id: 'whd_1', subscription_id, event_seq: 1, event_id: 'evt_1', event_type: 'user.updated' },
        ...{ origin: 'EVENT', status: 'PENDING', attempts_begun: 1, created_at: 1, next_attempt_at: 1_000 },
      })
      .execute();
    await migrateToLatest(database.patient);
    const { rows } = sendingUnitOfWork(database);
    expect([await rows.anyDue(999), await rows.anyDue(1_000)]).toEqual([false, true]);
  });
});
