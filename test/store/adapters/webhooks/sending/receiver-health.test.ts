import { expect, test } from '@jest/globals';
import type { DeliveryId } from '../../../../../generated/ids.js';
import { closeAll } from '../../../../../src/domain/webhooks/subscriptions/status.js';
import { operatorUnitOfWork } from '../../../../../src/store/adapters/operator/unit-of-work.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { auditedIn } from '../subscriptions/rig.js';
import { LEASE_MS, PATIENT, refused, sendingRig, succeeded } from './rig.js';

const DAY_MS = 86_400_000;

describeEachDatabase('a subscription', (under) => {
  async function withOne() {
    const rig = await sendingRig(under);
    const subscriptionId = await rig.subscribe();
    const next = async () => {
      await rig.happen();
      return rig.claimOne();
    };
    return { ...rig, subscriptionId, next, health: () => rig.subscription(subscriptionId) };
  }

  test('fails since its first failure, until the next success', async () => {
    const rig = await withOne();
    const since = rig.clock.now();
    await rig.record(refused(await rig.next()));
    rig.clock.advance(1_000);
    await rig.record(refused(await rig.next()));
    expect(await rig.health()).toMatchObject({ failing_since: since, last_success_at: null });
    rig.clock.advance(1_000);
    await rig.record(succeeded(await rig.next()));
    expect(await rig.health()).toMatchObject({ failing_since: null, last_success_at: rig.clock.now() });
    expect(await rig.health()).toMatchObject({ version: 'v1', updated_at: 1 });
  });

  test('has its last success noted once a minute', async () => {
    const rig = await withOne();
    const noted = rig.clock.now();
    await rig.record(succeeded(await rig.next()));
    rig.clock.advance(59_999);
    await rig.record(succeeded(await rig.next()));
    expect(await rig.health()).toMatchObject({ last_success_at: noted });
    rig.clock.advance(1);
    await rig.record(succeeded(await rig.next()));
    expect(await rig.health()).toMatchObject({ last_success_at: rig.clock.now() });
  });

  test('is as the last of several results has it', async () => {
    const rig = await withOne();
    await rig.happen();
    await rig.happen();
    const [one, other] = (await rig.claim()).deliveries.map(({ id }) => id);
    await rig.record(succeeded(one as never), refused(other as never));
    const now = rig.clock.now();
    expect(await rig.health()).toMatchObject({ failing_since: now, last_success_at: now });
  });

  test('is changed under a lock of its own, also by a failure before a success that is known', async () => {
    const rig = await withOne();
    await rig.happen();
    await rig.happen();
    const [one, other] = (await rig.claim()).deliveries.map(({ id }) => id) as [DeliveryId, DeliveryId];
    const { unitOfWork } = rig.dependencies;
    const areAlone: boolean[] = [];
    rig.dependencies.unitOfWork = {
      ...unitOfWork,
      run: (work, options) =>
        unitOfWork.run((changes) => {
          const hold: typeof changes.hold = (deliveries, alone) => {
            areAlone.push(alone);
            return changes.hold(deliveries, alone);
          };
          return work(Object.assign(Object.create(changes), { hold }));
        }, options),
    };
    await rig.record(succeeded(other));
    await rig.record(refused(one), succeeded(other));
    await rig.record(refused(one));
    expect(areAlone).toEqual([true, true, false]);
    expect(await rig.health()).toMatchObject({ failing_since: rig.clock.now() });
  });

  test('is not to blame for an attempt that we lost', async () => {
    const rig = await withOne();
    await rig.next();
    rig.clock.advance(LEASE_MS);
    await rig.claim();
    expect(await rig.health()).toMatchObject({ failing_since: null });
  });

  test('that answers 410 is disabled at once, and what is pending is not sent, and held later', async () => {
    const rig = await withOne();
    await rig.happen();
    await rig.happen();
    await rig.happen();
    const [gone, succeeding, running] = (await rig.claim()).deliveries.map(({ id }) => id as never);
    await rig.happen();
    const now = rig.clock.now();
    const progress = await rig.record(refused(gone as never, 1, 410), succeeded(succeeding as never));
    expect(progress).toMatchObject([
      { status: 'HELD', nextAttemptAt: null, leaseUntil: null, retryBatchId: null },
      { status: 'DELIVERED' },
    ]);
    expect(await rig.health()).toMatchObject({
      ...{ status: 'DISABLED', disabled_reason: 'GONE', disabled_at: now, updated_at: now },
      version: expect.not.stringMatching(/^v1$/),
    });
    const statuses = async () => (await rig.deliveries()).map(({ status }) => status).sort();
    expect(await statuses()).toEqual(['DELIVERED', 'HELD', 'PENDING', 'PENDING']);
    expect((await rig.claim()).deliveries).toEqual([]);
    await closeAll(operatorUnitOfWork(rig.database), PATIENT);
    expect(await statuses()).toEqual(['DELIVERED', 'HELD', 'HELD', 'HELD']);
    expect(await rig.delivery(running as never)).toMatchObject({
      status: 'HELD',
      lease_until: now + LEASE_MS,
    });
    expect(await rig.database.reader.selectFrom('retry_batches').selectAll().execute()).toEqual([]);
    expect(await auditedIn(rig.database)).toEqual([
      { type: 'subscription.disabled', subject_id: rig.subscriptionId, reason: 'GONE' },
    ]);
    const [line] = await rig.database.reader.selectFrom('audit_events').selectAll().execute();
    expect(line).toMatchObject({ actor_type: 'service', actor_id: 'webhooks', outcome: 'succeeded' });
  });

  test('that answers 410 is disabled also after the clock was set back to before its last change', async () => {
    const rig = await withOne();
    await rig.database.write((writer) =>
      writer
        .updateTable('subscriptions')
        .set({ updated_at: rig.clock.now() })
        .where('id', '=', rig.subscriptionId)
        .execute(),
    );
    rig.clock.advance(-3_600_000);
    await rig.record(refused(await rig.next(), 1, 410));
    expect(await rig.health()).toMatchObject({ status: 'DISABLED', disabled_reason: 'GONE' });
  });

  test('is disabled once by many answers of 410 at the same time', async () => {
    const rig = await withOne();
    for (let index = 0; index < 20; index += 1) {
      await rig.happen();
    }
    const ids = (await rig.claim()).deliveries.map(({ id }) => id);
    await Promise.all(ids.map((id) => rig.record(refused(id, 1, 410))));
    expect(await auditedIn(rig.database)).toHaveLength(1);
    await closeAll(operatorUnitOfWork(rig.database), PATIENT);
    expect((await rig.deliveries()).filter(({ status }) => status !== 'HELD')).toEqual([]);
    expect((await rig.deliveries()).filter(({ lease_until }) => lease_until !== null)).toEqual([]);
  });

  test('that was changed since the attempt began is not gone by its answer', async () => {
    const rig = await withOne();
    const id = await rig.next();
    rig.clock.advance(5);
    const updated_at = rig.clock.now();
    await rig.database.write((writer) => writer.updateTable('subscriptions').set({ updated_at }).execute());
    rig.clock.advance(5);
    // It was sent to the old address, even where the worker was slow to send it.
    expect(await rig.record(refused(id, 1, 410))).toMatchObject([{ status: 'PENDING' }]);
    expect(await rig.health()).toMatchObject({ status: 'ACTIVE' });
  });

  test('that was changed since an attempt began does not fail by its failure, but by the next', async () => {
    const rig = await withOne();
    const old = await rig.next();
    rig.clock.advance(5);
    const change = { url: 'https://new.example.com/in', updated_at: rig.clock.now() };
    await rig.database.write((writer) => writer.updateTable('subscriptions').set(change).execute());
    const present = await rig.next();
    rig.clock.advance(5);
    await rig.record(refused(old));
    expect(await rig.health()).toMatchObject({ failing_since: null });
    await rig.record(refused(present));
    expect(await rig.health()).toMatchObject({ failing_since: rig.clock.now() });
  });

  test('that fails for five days is disabled by the next delivery that was tried to the end, and not before', async () => {
    const rig = await withOne();
    const failAgain = async (id: DeliveryId, number: number) => {
      await rig.begin(id, number);
      return rig.record(refused(id, number));
    };
    const [early, late] = [await rig.next(), await rig.next()];
    await rig.record(refused(early), refused(late));
    await failAgain(early, 2);
    await failAgain(late, 2);
    rig.clock.advance(5 * DAY_MS - 1);
    await failAgain(early, 3);
    rig.clock.advance(1);
    await rig.record(refused(await rig.next()));
    expect(await rig.health()).toMatchObject({ status: 'ACTIVE' });
    await failAgain(late, 3);
    expect(await rig.health()).toMatchObject({ status: 'DISABLED', disabled_reason: 'FAILING' });
    await closeAll(operatorUnitOfWork(rig.database), PATIENT);
    expect((await rig.deliveries()).map(({ status }) => status)).toEqual(['EXHAUSTED', 'EXHAUSTED', 'HELD']);
    const audited = (await auditedIn(rig.database)).filter(({ type }) => type === 'subscription.disabled');
    expect(audited).toMatchObject([{ reason: 'FAILING' }]);
  });

  test('that fails for five days stays active if the next attempt succeeds', async () => {
    const rig = await withOne();
    await rig.record(refused(await rig.next()));
    rig.clock.advance(6 * DAY_MS);
    await rig.record(succeeded(await rig.next()));
    await rig.record(refused(await rig.next()));
    expect(await rig.health()).toMatchObject({ status: 'ACTIVE', failing_since: rig.clock.now() });
  });

  test('that an operator disabled keeps their reason when its address is gone too', async () => {
    const rig = await withOne();
    const id = await rig.next();
    const disabled = { status: 'DISABLED' as const, disabled_reason: 'OPERATOR' as const };
    await rig.database.write((writer) => writer.updateTable('subscriptions').set(disabled).execute());
    await rig.record(refused(id, 1, 410));
    expect(await rig.health()).toMatchObject(disabled);
    expect(await auditedIn(rig.database)).toEqual([]);
  });
});
