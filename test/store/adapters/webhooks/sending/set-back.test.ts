import { expect, test } from '@jest/globals';
import { describeEachDatabase } from '../../../../support/databases.js';
import { LEASE_MS, PATIENT, refused, SWEEP_PAUSE_MS, sendingNode, sendingRig, succeeded } from './rig.js';

const FIRST_WAIT_MS = 30_000;

describeEachDatabase('a clock that was set back', (under) => {
  async function running() {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    const id = await rig.claimOne();
    const claimed = async () => (await rig.claim()).deliveries.map(({ number }) => number);
    return { ...rig, id, claimed };
  }
  async function waiting() {
    const rig = await running();
    await rig.record(refused(rig.id));
    return rig;
  }

  for (const [title, backMs] of [
    ['ten minutes', 600_000],
    ['an hour', 3_600_000],
  ] as const) {
    test(`by ${title} ends a lease after its length, and the lost attempt is recorded`, async () => {
      const rig = await running();
      rig.clock.advance(-backMs);
      await rig.claim();
      expect(rig.setBacks).toEqual([1]);
      expect(await rig.delivery(rig.id)).toMatchObject({
        attempt_started_at: rig.clock.now(),
        lease_until: rig.clock.now() + LEASE_MS,
      });
      rig.clock.advance(LEASE_MS - 1);
      await rig.claim();
      expect(await rig.attempts(rig.id)).toEqual([]);
      rig.clock.advance(SWEEP_PAUSE_MS + 1);
      await rig.claim();
      expect(await rig.attempts(rig.id)).toMatchObject([{ number: 1, outcome: 'INTERRUPTED' }]);
    });

    test(`by ${title} makes a retry due after its wait`, async () => {
      const rig = await waiting();
      rig.clock.advance(-backMs);
      expect(await rig.claimed()).toEqual([]);
      expect(rig.setBacks).toEqual([1]);
      rig.clock.advance(FIRST_WAIT_MS - 1);
      expect(await rig.claimed()).toEqual([]);
      rig.clock.advance(1);
      expect(await rig.claimed()).toEqual([2]);
    });
  }

  test('does not stop the sweep of what lapses later', async () => {
    const rig = await waiting();
    rig.clock.advance(-3_600_000);
    await rig.claim();
    rig.clock.advance(FIRST_WAIT_MS);
    expect(await rig.claimed()).toEqual([2]);
    rig.clock.advance(LEASE_MS + 1_000);
    await rig.claim();
    expect(await rig.attempts(rig.id)).toMatchObject([{ number: 1 }, { number: 2, outcome: 'INTERRUPTED' }]);
  });

  test('before the start is seen at the first claim', async () => {
    const rig = await waiting();
    rig.clock.advance(-3_600_000);
    const restarted = sendingNode(rig.database, rig.connection, rig.clock);
    await restarted.claim();
    expect(restarted.setBacks).toEqual([1]);
    rig.clock.advance(FIRST_WAIT_MS);
    expect((await restarted.claim()).deliveries.map(({ number }) => number)).toEqual([2]);
  });

  test('moves each wait once, however often the service starts', async () => {
    const rig = await waiting();
    rig.clock.advance(-3_600_000);
    await rig.claim();
    const { next_attempt_at: dueAt } = await rig.delivery(rig.id);
    rig.clock.advance(10_000);
    await sendingNode(rig.database, rig.connection, rig.clock).claim();
    expect(await rig.delivery(rig.id)).toMatchObject({ next_attempt_at: dueAt });
  });

  test('does not keep a batch of retries open', async () => {
    const rig = await waiting();
    rig.clock.advance(-3_600_000);
    await rig.claim();
    expect(await rig.handover.claim(100, 0, PATIENT)).toMatchObject([{ deliveries: [{ id: rig.id }] }]);
  });

  test('leaves an attempt in progress to its sender, whose success counts', async () => {
    const rig = await running();
    rig.clock.advance(-3_600_000);
    await rig.claim();
    await rig.record(succeeded(rig.id));
    expect(await rig.delivery(rig.id)).toMatchObject({ status: 'DELIVERED', lease_until: null });
  });

  test('is reported only if it happened', async () => {
    const rig = await waiting();
    rig.clock.advance(5_000);
    await rig.claim();
    expect(rig.setBacks).toEqual([]);
  });

  test('is not reported at each start for what has ended', async () => {
    const rig = await running();
    await rig.record(succeeded(rig.id));
    rig.clock.advance(-3_600_000);
    await rig.claim();
    expect(rig.setBacks).toEqual([]);
  });
});
