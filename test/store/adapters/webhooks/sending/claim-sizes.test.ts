import { expect, jest, test } from '@jest/globals';
import { describeEachDatabase } from '../../../../support/databases.js';
import { newConnection } from '../subscriptions/rig.js';
import { sendingNode, sendingRig } from './rig.js';

const MIB = 1_024 * 1_024;
const LONG_NAME = 'x'.repeat(MIB);

type Claim = Awaited<ReturnType<Awaited<ReturnType<typeof sendingRig>>['claim']>>;

function bytesOf({ bodies }: Claim): number {
  return bodies.reduce((sum, { body }) => sum + body.length, 0);
}

describeEachDatabase('a claim of long events', (under) => {
  test('holds no more than an answer may be long, and leaves the rest as if it had not been looked at', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    for (let index = 0; index < 10; index += 1) {
      rig.clock.advance(1);
      await rig.happen({ name: LONG_NAME });
    }
    const ids = (await rig.deliveries()).map(({ id }) => id);
    const looks = rig.deliveriesDue.count;
    const first = await rig.claim();
    expect(first.deliveries.map(({ id }) => id)).toEqual(ids.slice(0, 7));
    expect(bytesOf(first)).toBeLessThan(8 * MIB);
    expect((await rig.deliveries()).slice(7)).toMatchObject(
      Array(3).fill({ attempts_begun: 0, attempt_started_at: null, lease_until: null }),
    );
    // A waiting claim need not wait for the next look.
    expect(rig.deliveriesDue.count).toBe(looks + 1);
    expect((await rig.claim()).deliveries.map(({ id }) => id)).toEqual(ids.slice(7));
  });

  test('keeps what fits if the rest cannot be given back', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    for (let index = 0; index < 10; index += 1) {
      rig.clock.advance(1);
      await rig.happen({ name: LONG_NAME });
    }
    const ids = (await rig.deliveries()).map(({ id }) => id);
    const { unitOfWork } = rig.dependencies;
    const run = unitOfWork.run.bind(unitOfWork);
    const lost = new Error('The connection is lost.');
    const takeBack = () => Promise.reject(lost);
    const { mockRestore } = jest
      .spyOn(unitOfWork, 'run')
      .mockImplementation((work, options) => run((changes) => work({ ...changes, takeBack }), options));
    const first = await rig.claim();
    mockRestore();
    expect(first.deliveries.map(({ id }) => id)).toEqual(ids.slice(0, 7));
    expect(rig.notTakenBack).toEqual([lost]);
  });

  test.each(['HELD', 'CANCELLED'])('leaves no due time where the rest is %s meanwhile', async (status) => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen();
    const began = { attempts_begun: 2, attempt_started_at: 5, lease_until: 10, next_attempt_at: null };
    await rig.database.write((writer) =>
      writer
        .updateTable('deliveries')
        .set({ ...began, status: status as 'HELD' })
        .execute(),
    );
    const [{ seq }] = (await rig.database.reader.selectFrom('deliveries').select('seq').execute()) as [
      { seq: number },
    ];
    await rig.dependencies.unitOfWork.run((changes) => changes.takeBack([seq], 5));
    expect(await rig.deliveries()).toMatchObject([
      { attempts_begun: 1, attempt_started_at: null, lease_until: null, next_attempt_at: null },
    ]);
  });

  test('takes one that is longer than that alone', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await rig.happen({ name: 'x'.repeat(9 * MIB) });
    await rig.happen();
    const sizes = [await rig.claim(), await rig.claim()].map(({ deliveries }) => deliveries.length);
    expect(sizes).toEqual([1, 1]);
    expect((await rig.claim()).deliveries).toEqual([]);
  });

  test('counts what several receive for the same instance integration once', async () => {
    const rig = await sendingRig(under);
    await Promise.all([rig.subscribe(), rig.subscribe(), rig.subscribe()]);
    for (let index = 0; index < 3; index += 1) {
      await rig.happen({ name: LONG_NAME });
    }
    const claim = await rig.claim();
    expect(claim.deliveries).toHaveLength(9);
    expect(claim.bodies).toHaveLength(3);
  });

  test('continues next time with the subscription that got nothing', async () => {
    const rig = await sendingRig(under);
    const other = sendingNode(rig.database, await newConnection(rig.database), rig.clock);
    const subscriptions = [await rig.subscribe(), await other.subscribe()].sort();
    for (let index = 0; index < 8; index += 1) {
      await rig.happen({ name: LONG_NAME });
      await other.happen({ name: LONG_NAME });
    }
    const receivers = async () => (await rig.claim()).targets.map(({ subscriptionId }) => subscriptionId);
    expect(await receivers()).toEqual([subscriptions[0]]);
    // The last one of the first subscription, for which there was no room, comes in the next turn of both.
    expect((await receivers())[0]).toBe(subscriptions[1]);
  });
});
