import { expect, test } from '@jest/globals';
import { disconnectInstance } from '../../../src/domain/operator/connections.js';
import { operatorUnitOfWork } from '../../../src/store/adapters/operator/unit-of-work.js';
import { describeEachDatabase } from '../../support/databases.js';
import { OPERATOR } from '../operator-rig.js';
import {
  auditedIn,
  deliveriesIn,
  newConnection,
  plantDelivery,
  subscriptionRig,
} from './subscription-rig.js';

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
    const gone = operator.run(OPERATOR, (changes) => disconnectInstance(changes, connection.id));
    await expect(gone).resolves.toBe(1);

    await expect(rows.connections.find(connection.id)).resolves.toBeUndefined();
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
