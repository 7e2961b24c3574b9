import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import {
  deleteSubscription,
  disableSubscription,
  enableSubscription,
} from '../../../../../src/domain/webhooks/subscriptions/status.js';
import { subscriptionDeliveryRows } from '../../../../../src/store/adapters/webhooks/subscriptions/deliveries.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { refusal } from '../../operator/rig.js';
import { deliveriesIn, plantDelivery, plantHeld, subscriptionRig } from './rig.js';

describeEachDatabase('the status of a subscription', (under) => {
  test('disabling holds what is pending and nothing else', async () => {
    const { create, run, database, clock, rows, audited } = await subscriptionRig(under);
    const { subscription } = await create();
    const { subscription: other } = await create();
    const waiting = await plantDelivery(database, subscription);
    const retried = await plantDelivery(database, subscription, {
      attempts_begun: 1,
      next_attempt_at: 1_790_000_030_000,
      retry_batch_id: 'bat_a',
    });
    const running = await plantDelivery(database, subscription, {
      attempts_begun: 2,
      attempt_started_at: 5,
      lease_until: 1_790_000_030_000,
    });
    const over = await plantDelivery(database, subscription, { status: 'DELIVERED', ended_at: 7 });
    const foreign = await plantDelivery(database, other);
    const before = await deliveriesIn(database);
    clock.advance(5);
    const { subscription: disabled, held } = await run((changes) =>
      disableSubscription(changes, {
        subscriptionId: subscription.id,
        expectedVersion: subscription.version,
      }),
    );

    expect(held).toBe(3);
    expect(disabled).toMatchObject({
      status: 'DISABLED',
      disabledReason: 'OPERATOR',
      disabledAt: clock.now(),
      updatedAt: clock.now(),
    });
    expect(disabled.version).not.toBe(subscription.version);
    await expect(rows.subscriptions.find(subscription.id)).resolves.toEqual(disabled);
    const after = await deliveriesIn(database);
    for (const id of [waiting, retried, running]) {
      expect(after.get(id)).toEqual({ ...before.get(id), status: 'HELD', next_attempt_at: null });
    }
    for (const id of [over, foreign]) {
      expect(after.get(id)).toEqual(before.get(id));
    }
    await expect(rows.deliveries.backlogOf(subscription.id)).resolves.toEqual({ pending: 0, held: 3 });
    await expect(rows.deliveries.backlogOf(other.id)).resolves.toEqual({ pending: 1, held: 0 });
    expect((await audited()).at(-1)).toEqual({
      type: 'subscription.disabled',
      subject_id: subscription.id,
      reason: 'OPERATOR',
    });
  });

  test('enabling resets the failures, and held deliveries stay held', async () => {
    const { create, run, database, clock, rows, audited } = await subscriptionRig(under);
    const { subscription } = await create();
    await run(({ subscriptions }) =>
      subscriptions.update({
        ...subscription,
        status: 'DISABLED',
        disabledReason: 'FAILING',
        disabledAt: 9,
        failingSince: 3,
        lastSuccessAt: 2,
      }),
    );
    await plantDelivery(database, subscription, { status: 'HELD' }, 1_790_000_002_000);
    // A replay that was held: made late, of the oldest event.
    await plantDelivery(
      database,
      subscription,
      { status: 'HELD', origin: 'REPLAY', id: 'whd_zzz' },
      1_790_000_001_000,
    );
    await plantDelivery(database, subscription, { status: 'CANCELLED' }, 1_790_000_000_000);
    const before = await deliveriesIn(database);
    clock.advance(5);
    const enabled = await run((changes) => enableSubscription(changes, { subscriptionId: subscription.id }));

    expect(enabled).toEqual({
      ...subscription,
      lastSuccessAt: 2,
      version: enabled.version,
      updatedAt: clock.now(),
    });
    expect(enabled.version).not.toBe(subscription.version);
    await expect(deliveriesIn(database)).resolves.toEqual(before);
    await expect(rows.deliveries.heldSince(subscription.id)).resolves.toBe(1_790_000_001_000);
    expect((await audited()).at(-1)).toEqual({ type: 'subscription.enabled', subject_id: subscription.id });
  });

  test('the oldest event of thousands that are held is found between the turns of other work', async () => {
    const { create, database, rows } = await subscriptionRig(under);
    const { subscription } = await create();
    await plantHeld(database, subscription, 2_500);
    const oldest = { status: 'HELD', attempts_begun: 3 } as const;
    await plantDelivery(database, subscription, oldest, 1_780_000_000_000);
    let turns = 0;
    const turn = () => {
      turns += 1;
      coming = setImmediate(turn);
    };
    let coming = setImmediate(turn);
    await expect(rows.deliveries.heldSince(subscription.id)).resolves.toBe(1_780_000_000_000);
    clearImmediate(coming);
    if (under.kind === 'SQLite') {
      // PostgreSQL looks in another process.
      expect(turns).toBeGreaterThanOrEqual(5);
    }
  });

  if (under.kind === 'PostgreSQL') {
    test('the oldest event is found without the events of deliveries that have its time', async () => {
      const { create, database } = await subscriptionRig(under);
      const { subscription } = await create();
      for (const occurredAt of [1_790_000_000_003, 1_790_000_000_002, 1_790_000_000_004]) {
        await plantDelivery(database, subscription, { status: 'HELD' }, occurredAt);
      }
      const [since, read] = await database.write(async (writer) => [
        await subscriptionDeliveryRows(writer).heldSince(subscription.id),
        await sql<{ count: unknown }>`
          select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as count
          from pg_stat_xact_user_tables where relname = 'events'
        `.execute(writer),
      ]);
      expect(since).toBe(1_790_000_000_002);
      expect(read).toMatchObject({ rows: [{ count: 0 }] });
    });
  }

  test('a state that it has already leaves no trace', async () => {
    const { create, run, audited, rows, clock } = await subscriptionRig(under);
    const { subscription } = await create();
    const chosen = { subscriptionId: subscription.id };
    clock.advance(1);
    await expect(run((changes) => enableSubscription(changes, chosen))).resolves.toEqual(subscription);
    const first = await run((changes) => disableSubscription(changes, chosen));
    clock.advance(1);
    const again = await run((changes) => disableSubscription(changes, chosen));
    expect(again).toEqual({ ...first, held: 0 });
    const gone = { ...first.subscription, disabledReason: 'GONE' as const };
    await run(({ subscriptions }) => subscriptions.update(gone));
    await expect(run((changes) => disableSubscription(changes, chosen))).resolves.toEqual({
      subscription: gone,
      held: 0,
    });
    expect((await audited()).map(({ type, reason }) => [type, reason])).toEqual([
      ['subscription.created', undefined],
      ['subscription.disabled', 'OPERATOR'],
    ]);
    await expect(rows.deliveries.heldSince(subscription.id)).resolves.toBeNull();
  });

  test('deleting cancels what is open, removes the secrets, and keeps the rows for the log', async () => {
    const { create, run, database, clock, rows, audited } = await subscriptionRig(under);
    const { subscription } = await create();
    const { subscription: other } = await create();
    const open = [
      await plantDelivery(database, subscription, { attempts_begun: 1, next_attempt_at: 17 }),
      await plantDelivery(database, subscription, { status: 'HELD' }),
    ];
    const over = await plantDelivery(database, subscription, { status: 'EXHAUSTED', ended_at: 7 });
    const foreign = await plantDelivery(database, other);
    const before = await deliveriesIn(database);
    clock.advance(5);
    const cancelled = await run((changes) =>
      deleteSubscription(changes, { subscriptionId: subscription.id, expectedVersion: subscription.version }),
    );

    expect(cancelled).toBe(2);
    const after = await deliveriesIn(database);
    for (const id of open) {
      const ended = { status: 'CANCELLED', next_attempt_at: null, ended_at: clock.now() };
      expect(after.get(id)).toEqual({ ...before.get(id), ...ended });
    }
    for (const id of [over, foreign]) {
      expect(after.get(id)).toEqual(before.get(id));
    }
    await expect(rows.subscriptions.find(subscription.id)).resolves.toBeUndefined();
    const kept = await database.reader
      .selectFrom('subscriptions')
      .where('status', '=', 'DELETED')
      .select(['id', 'deleted_at'])
      .execute();
    expect(kept).toEqual([{ id: subscription.id, deleted_at: clock.now() }]);
    const secrets = await database.reader
      .selectFrom('subscription_secrets')
      .select('subscription_id')
      .execute();
    expect(secrets).toEqual([{ subscription_id: other.id }]);
    expect((await audited()).at(-1)).toEqual({ type: 'subscription.deleted', subject_id: subscription.id });
  });

  test.each([
    ['enabled', enableSubscription],
    ['disabled', disableSubscription],
    ['deleted', deleteSubscription],
  ])('what does not exist, or was changed meanwhile, is not %s', async (_, change) => {
    const { create, run, database, audited } = await subscriptionRig(under);
    const { subscription } = await create();
    await plantDelivery(database, subscription);
    const before = await deliveriesIn(database);
    const attempt = (chosen: Parameters<typeof change>[1]) =>
      refusal(run<unknown>((changes) => change(changes, chosen)));

    const { id: subscriptionId } = subscription;
    await expect(attempt({ subscriptionId, expectedVersion: 'old' })).resolves.toMatchObject({
      code: 'VERSION_CONFLICT',
    });
    await expect(attempt({ subscriptionId: 'whs_none' })).resolves.toMatchObject({
      code: 'SUBSCRIPTION_NOT_FOUND',
    });
    await expect(deliveriesIn(database)).resolves.toEqual(before);
    expect(await audited()).toHaveLength(1);
  });

  test('what fails later takes the whole change back', async () => {
    const { create, run, database, rows } = await subscriptionRig(under);
    const { subscription } = await create();
    await plantDelivery(database, subscription);
    const before = await deliveriesIn(database);
    const failing = run(async (changes) => {
      await disableSubscription(changes, { subscriptionId: subscription.id });
      throw new Error('on purpose');
    });
    await expect(failing).rejects.toThrow('on purpose');
    await expect(rows.subscriptions.find(subscription.id)).resolves.toEqual(subscription);
    await expect(deliveriesIn(database)).resolves.toEqual(before);
  });
});
