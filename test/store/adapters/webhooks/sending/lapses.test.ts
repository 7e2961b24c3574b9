import { expect, test } from '@jest/globals';
import { describeEachDatabase } from '../../../../support/databases.js';
import { LEASE_MS, twoSendingNodes } from './rig.js';

describeEachDatabase('attempts of a lost worker', (under) => {
  test('are each recorded once, though several nodes sweep at once', async () => {
    const { one, other } = await twoSendingNodes(under);
    const ended: [string, number][] = [];
    for (const { dependencies } of [one, other]) {
      dependencies.onEnded = (status, count) => ended.push([status, count]);
    }
    await one.subscribe();
    for (let event = 0; event < 20; event += 1) {
      await one.happen();
    }
    const lost = (await one.claim()).deliveries;
    expect(lost).toHaveLength(20);
    one.clock.advance(LEASE_MS + 1);

    await Promise.all([one.claim(), other.claim(), one.claim(), other.claim()]);
    for (const { id } of lost) {
      expect(await one.attempts(id)).toMatchObject([{ number: 1, outcome: 'INTERRUPTED' }]);
      expect(await one.delivery(id)).toMatchObject({ attempts_begun: 1, status: 'PENDING' });
    }
    expect(ended).toEqual([]);
    expect([...one.unswept, ...other.unswept]).toEqual([]);
  });
});
