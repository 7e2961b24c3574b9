import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { InstanceIntegrationId, SubscriptionId } from '../../../../../generated/ids.js';
import {
  disconnectInstance,
  writeConfiguration,
} from '../../../../../src/domain/operator/instance-integrations.js';
import type { OperatorChanges } from '../../../../../src/domain/operator/unit-of-work.js';
import { type Attributed, inNameOf } from '../../../../../src/domain/unit-of-work.js';
import { MOST_CLOSED_AT_ONCE } from '../../../../../src/domain/webhooks/subscriptions/rows.js';
import {
  disableSubscription,
  enableSubscription,
} from '../../../../../src/domain/webhooks/subscriptions/status.js';
import { operatorUnitOfWork } from '../../../../../src/store/adapters/operator/unit-of-work.js';
import { databaseUnderTest, describeEachDatabase } from '../../../../support/databases.js';
import { eventually } from '../../../../support/eventually.js';
import { OPERATOR, refusal } from '../../operator/rig.js';
import { sendingNode } from '../sending/rig.js';
import { auditedIn, deliveriesIn, newConnection, plantDelivery, subscriptionRig } from './rig.js';

describeEachDatabase('an instance that is disconnected', (under) => {
  test('takes its subscriptions with it, and the log of their deliveries stays', async () => {
    const { create, run, database, connection, rows } = await subscriptionRig(under);
    const other = await newConnection(database);
    const { subscription } = await create();
    const { subscription: earlier } = await create();
    const { subscription: stranger } = await create({ instanceIntegrationId: other.id });
    await run((changes) => changes.subscriptions.delete(earlier.id, 1));
    const open = await plantDelivery(database, subscription);
    const over = await plantDelivery(database, subscription, { status: 'DELIVERED', ended_at: 7 });
    const foreign = await plantDelivery(database, stranger);

    const operator = operatorUnitOfWork(database);
    const gone = inNameOf(OPERATOR, operator).run((changes) => disconnectInstance(changes, connection.id));
    await expect(gone).resolves.toBe(1);

    await expect(rows.instanceIntegrations.find(connection.id)).resolves.toBeUndefined();
    await expect(rows.subscriptions.find(subscription.id)).resolves.toBeUndefined();
    await expect(rows.subscriptions.find(stranger.id)).resolves.toEqual(stranger);
    const deliveries = await deliveriesIn(database);
    expect([open, over, foreign].map((id) => deliveries.get(id)?.status)).toEqual([
      'CANCELLED',
      'DELIVERED',
      'PENDING',
    ]);
    await expect(rows.deliveryLog.find(open)).resolves.toMatchObject({
      instanceIntegrationId: connection.id,
      status: 'CANCELLED',
    });
    const audited = await auditedIn(database);
    expect(audited.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['subscription.deleted', 'instance_integration.disconnected']),
    );
  });
});

describeEachDatabase('an instance integration that is configured no more', (under) => {
  async function unconfigured() {
    const rig = await subscriptionRig(under);
    const operator = operatorUnitOfWork({ ...rig.database, clock: rig.clock.now });
    const configure = (configured: boolean) =>
      inNameOf(OPERATOR, operator).run((changes) =>
        writeConfiguration(changes, { id: rig.connection.id, configured }),
      );
    const other = await newConnection(rig.database);
    const { subscription } = await rig.create();
    const { subscription: resting } = await rig.create();
    const { subscription: stranger } = await rig.create({ instanceIntegrationId: other.id });
    await rig.run((changes) => disableSubscription(changes, { subscriptionId: resting.id }));
    const pending = await plantDelivery(rig.database, subscription);
    const over = await plantDelivery(rig.database, subscription, { status: 'EXHAUSTED', ended_at: 7 });
    const foreign = await plantDelivery(rig.database, stranger);
    rig.clock.advance(5);
    const find = async ({ id }: { id: string }) => rig.rows.subscriptions.find(id);
    return { ...rig, configure, find, subscription, resting, stranger, pending, over, foreign };
  }

  test('holds what is pending, and its subscriptions and the audit log say why', async () => {
    const { configure, find, subscription, resting, stranger, database, clock, audited, ...rest } =
      await unconfigured();
    await configure(false);
    await expect(find(subscription)).resolves.toMatchObject({
      status: 'DISABLED',
      disabledReason: 'UNCONFIGURED',
      disabledAt: clock.now(),
    });
    await expect(find(resting)).resolves.toMatchObject({ disabledReason: 'OPERATOR' });
    await expect(find(stranger)).resolves.toEqual(stranger);
    const deliveries = await deliveriesIn(database);
    expect([rest.pending, rest.over, rest.foreign].map((id) => deliveries.get(id)?.status)).toEqual([
      'HELD',
      'EXHAUSTED',
      'PENDING',
    ]);
    expect(await audited()).toContainEqual({
      type: 'subscription.disabled',
      subject_id: subscription.id,
      reason: 'UNCONFIGURED',
    });
  });

  test('enables none of its subscriptions until it is configured', async () => {
    const { configure, run, subscription, resting } = await unconfigured();
    await configure(false);
    for (const { id: subscriptionId } of [subscription, resting]) {
      const enabling = run((changes) => enableSubscription(changes, { subscriptionId }));
      await expect(refusal(enabling)).resolves.toMatchObject({ code: 'INSTANCE_INTEGRATION_NOT_CONFIGURED' });
    }
  });

  test('configured again, has those enabled that were active, and what they missed stays held', async () => {
    const { configure, find, subscription, resting, pending, database, audited } = await unconfigured();
    await configure(false);
    await configure(true);
    await expect(find(subscription)).resolves.toMatchObject({ status: 'ACTIVE', disabledReason: null });
    await expect(find(resting)).resolves.toMatchObject({ status: 'DISABLED', disabledReason: 'OPERATOR' });
    expect((await deliveriesIn(database)).get(pending)?.status).toBe('HELD');
    expect((await audited()).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['instance_integration.configured', 'subscription.enabled']),
    );
  });

  test('configured again, leaves alone what an operator disabled meanwhile', async () => {
    const { configure, find, run, subscription } = await unconfigured();
    await configure(false);
    await run((changes) => disableSubscription(changes, { subscriptionId: subscription.id }));
    await configure(true);
    await expect(find(subscription)).resolves.toMatchObject({
      status: 'DISABLED',
      disabledReason: 'OPERATOR',
    });
  });

  test('holds no more in one write than others can wait for, of all its subscriptions together', async () => {
    const { connection, create, database } = await unconfigured();
    await plantDelivery(database, (await create()).subscription);
    const most: number[] = [];
    await inNameOf(OPERATOR, operatorUnitOfWork(database)).run(({ deliveries, ...changes }) => {
      const counting: typeof deliveries = {
        ...deliveries,
        holdPending: (id, limit) => {
          most.push(limit);
          return deliveries.holdPending(id, limit);
        },
      };
      const { id } = connection;
      return writeConfiguration({ ...changes, deliveries: counting }, { id, configured: false });
    });
    expect(most).toEqual([MOST_CLOSED_AT_ONCE, MOST_CLOSED_AT_ONCE - 1]);
  });
});

// On SQLite one write begins when the other has ended.
describe('on PostgreSQL, during a write with events, an instance integration', () => {
  const under = databaseUnderTest('PostgreSQL');
  type Change = (changes: OperatorChanges & Attributed, id: InstanceIntegrationId) => unknown;

  test.each<[string, Change]>([
    ['is disconnected', (changes, id) => disconnectInstance(changes, id)],
    ['is configured no more', (changes, id) => writeConfiguration(changes, { id, configured: false })],
  ])('%s, and neither has to be made again', async (_, change) => {
    const { create, run, database, connection } = await subscriptionRig(under);
    const node = sendingNode(database, connection);
    const { subscription } = await create();
    // Events lock it first, though it is older.
    const first = `whs_${'0'.repeat(22)}` as SubscriptionId;
    await run(({ subscriptions }) => subscriptions.insert({ ...subscription, id: first, createdAt: 1 }));
    const waits = async () => {
      const waiting = sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      return (await waiting.execute(database.reader)).rows.length > 0;
    };
    const tries = { change: 0, event: 0 };
    let happening: Promise<void> | undefined;
    await inNameOf(OPERATOR, operatorUnitOfWork(database)).run(async (changes) => {
      tries.change += 1;
      const findLocked: typeof changes.subscriptions.findLocked = async (id) => {
        const found = await changes.subscriptions.findLocked(id);
        if (!happening) {
          happening = node.platform.run(async (platform) => {
            tries.event += 1;
            await platform.recordEvent(node.event());
          });
          happening.catch(() => undefined);
          await eventually('the write with an event waits', waits);
        }
        return found;
      };
      await change({ ...changes, subscriptions: { ...changes.subscriptions, findLocked } }, connection.id);
    });
    await happening;
    expect(tries).toEqual({ change: 1, event: 1 });
  });
});
