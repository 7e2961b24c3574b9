import { describe, expect, jest, test } from '@jest/globals';
import { fakeClock } from '../../../../domain/clock.js';
import { databaseUnderTest } from '../../../../support/databases.js';
import { LONGER_THAN_A_TEST_MS } from '../../../../support/eventually.js';
import { newConnection } from '../subscriptions/rig.js';
import { refused, type SendingNode, sendingNode } from './rig.js';

describe('the pause before the next look', () => {
  const under = databaseUnderTest('SQLite');
  const PAUSES = { lookMs: 7, notifiedMs: 10_000, lockedMs: 7 };

  /** How long the claim of a node waits where nothing is due. */
  async function pauseOf({ claim, deliveriesDue }: SendingNode): Promise<number> {
    const caller = new AbortController();
    const news = jest.spyOn(deliveriesDue, 'news');
    const paused = new Promise<number>((resolve) => {
      news.mockImplementationOnce(async (_, pauseMs) => {
        caller.abort();
        resolve(pauseMs);
      });
    });
    await claim({ maxWaitMs: LONGER_THAN_A_TEST_MS }, caller.signal);
    return paused;
  }

  async function node(settings = {}) {
    const database = await under.openMigrated();
    const rig = sendingNode(database, await newConnection(database), fakeClock(), settings, PAUSES);
    await rig.subscribe();
    return rig;
  }

  test('is short as long as other nodes do not wake this one', async () => {
    const rig = await node();
    expect(await pauseOf(rig)).toBe(PAUSES.lookMs);
    rig.deliveriesDue.setNotified(true);
    expect(await pauseOf(rig)).toBe(PAUSES.notifiedMs);
    rig.deliveriesDue.setNotified(false);
    expect(await pauseOf(rig)).toBe(PAUSES.lookMs);
  });

  test('is short while a retry becomes due in the long one', async () => {
    const rig = await node({ retryDelaysMs: [3 * PAUSES.notifiedMs, 3 * PAUSES.notifiedMs] });
    rig.deliveriesDue.setNotified(true);
    await rig.happen();
    await rig.record(refused(await rig.claimOne()));
    expect(await pauseOf(rig)).toBe(PAUSES.notifiedMs);
    rig.clock.advance(2 * PAUSES.notifiedMs);
    expect(await pauseOf(rig)).toBe(PAUSES.lookMs);
  });

  test('is short where retry delays may begin and end in the long one', async () => {
    const rig = await node({ retryDelaysMs: [PAUSES.notifiedMs, 300_000] });
    rig.deliveriesDue.setNotified(true);
    expect(await pauseOf(rig)).toBe(PAUSES.lookMs);
  });
});
