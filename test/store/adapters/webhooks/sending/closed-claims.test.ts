import { expect, test } from '@jest/globals';
import { describeEachDatabase } from '../../../../support/databases.js';
import { refused, sendingRig } from './rig.js';

describeEachDatabase('what is still pending to a subscription that is active no more', (under) => {
  async function withTwo() {
    const rig = await sendingRig(under);
    const id = await rig.subscribe();
    const become = (status: 'ACTIVE' | 'DISABLED' | 'DELETED') =>
      rig.database.write((writer) =>
        writer.updateTable('subscriptions').set({ status }).where('id', '=', id).execute(),
      );
    await rig.happen();
    const tried = await rig.claimOne();
    await rig.record(refused(tried));
    await rig.happen();
    return { ...rig, become, tried };
  }

  test.each(['DISABLED', 'DELETED'] as const)('is not claimed once it is %s', async (status) => {
    const { become, claim } = await withTwo();
    await become(status);
    await expect(claim()).resolves.toMatchObject({ deliveries: [] });
    await become('ACTIVE');
    await expect(claim()).resolves.toMatchObject({ deliveries: [{}] });
  });

  test.each(['DISABLED', 'DELETED'] as const)('is not tried again once it is %s', async (status) => {
    const { become, begin, tried } = await withTwo();
    await become(status);
    await expect(begin(tried, 2)).resolves.toBeUndefined();
    await become('ACTIVE');
    await expect(begin(tried, 2)).resolves.toBe(2);
  });

  test('is not claimed either where it fails and waited for a slot before it was disabled', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe({ failing_since: 1, event_types: '["a.*"]' });
    const id = await rig.subscribe({ failing_since: 1, event_types: '["b.*"]' });
    await rig.happen({ type: 'a.x' });
    const running = (await rig.claim({ totalSlots: 2 })).deliveries[0]?.id as never;
    await rig.happen({ type: 'b.x' });
    await expect(rig.claim({ totalSlots: 2 })).resolves.toMatchObject({ deliveries: [] });
    await rig.database.write((writer) =>
      writer.updateTable('subscriptions').set({ status: 'DISABLED' }).where('id', '=', id).execute(),
    );
    await rig.record(refused(running));
    await rig.happen({ type: 'a.x' });
    const { targets } = await rig.claim({ totalSlots: 2 });
    expect(targets).toHaveLength(1);
    expect(targets[0]?.subscriptionId).not.toBe(id);
  });

  test('is not begun by a claim that looked while it was active', async () => {
    const { database, claim, dependencies, become } = await withTwo();
    const { run } = dependencies.unitOfWork;
    dependencies.unitOfWork.run = (work) =>
      run((changes) =>
        work({
          ...changes,
          dueFirst: async (...wanted) => {
            const due = await changes.dueFirst(...wanted);
            // On SQLite there is no concurrent write.
            if (!database.writesInOrder) {
              await become('DISABLED');
            }
            return due;
          },
        }),
      );
    const { deliveries } = await claim();
    expect(deliveries).toHaveLength(database.writesInOrder ? 1 : 0);
  });
});
