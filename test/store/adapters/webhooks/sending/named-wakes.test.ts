import { afterEach, expect, jest, test } from '@jest/globals';
import type { SubscriptionId } from '../../../../../generated/ids.js';
import type { Claim } from '../../../../../src/domain/webhooks/sending/claims/claim.js';
import { newPublicId } from '../../../../../src/identifiers/public-id.js';
import { fakeClock } from '../../../../domain/clock.js';
import { type DatabaseUnderTest, describeEachDatabase } from '../../../../support/databases.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../../../../support/eventually.js';
import { signalled } from '../../../../support/signalled.js';
import { newConnection } from '../subscriptions/rig.js';
import { NEVER, PATIENT, REQUEST, type SendingNode, sendingNode, succeeded } from './rig.js';

/** A node, and another which commits what the first does not hear of by itself. */
async function nodes(under: DatabaseUnderTest) {
  const database = await under.openMigrated();
  const connection = await newConnection(database);
  const clock = fakeClock();
  const node = sendingNode(database, connection, clock, {}, NEVER);
  return { ...node, other: sendingNode(database, connection, clock) };
}

/** A claim that has found nothing and waits. */
async function waiting(
  { deliveriesDue, claims }: SendingNode,
  request: { freeSlots?: number; maxRunningPerSubscription?: number } = {},
  caller = PATIENT,
) {
  const news = jest.spyOn(deliveriesDue, 'news');
  const claim = claims.claim({ ...REQUEST, ...request, maxWaitMs: LONGER_THAN_A_TEST_MS }, caller);
  await eventually('a claim that waits', () => news.mock.calls.length > 0);
  news.mockRestore();
  return { claim };
}

/** Counts complete looks from now on. */
function looksOf({ dependencies: { unitOfWork } }: SendingNode) {
  const looks = { count: 0 };
  const { rows, run } = unitOfWork;
  const { dueSubscriptions } = rows;
  jest.spyOn(rows, 'dueSubscriptions').mockImplementation((...parameters) => {
    looks.count += 1;
    return dueSubscriptions(...parameters);
  });
  jest.spyOn(unitOfWork, 'run').mockImplementation((work, options) =>
    run((changes) => {
      const inWrite = (...parameters: Parameters<typeof changes.dueSubscriptions>) => {
        looks.count += 1;
        return changes.dueSubscriptions(...parameters);
      };
      return work({ ...changes, dueSubscriptions: inWrite });
    }, options),
  );
  return looks;
}

afterEach(() => {
  jest.restoreAllMocks();
});

const subscriptionsOf = ({ targets }: Claim) => targets.map(({ subscriptionId }) => subscriptionId);

describeEachDatabase('a claim that waits', (under) => {
  test.each(['here', 'on another node'])('begins with what a wake %s has named', async (place) => {
    const { other, ...rig } = await nodes(under);
    const id = await rig.subscribe();
    const { claim } = await waiting(rig);
    const looks = looksOf(rig);
    if (place === 'here') {
      await rig.happen();
    } else {
      await other.happen();
      rig.deliveriesDue.wakeByOther(new Set([id]));
    }
    expect(subscriptionsOf(await claim)).toEqual([id]);
    expect(looks.count).toBe(0);
  });

  test('looks at all that is due if a wake names nothing, or nothing that is due', async () => {
    const { other, ...rig } = await nodes(under);
    const id = await rig.subscribe();
    for (const named of [undefined, new Set([newPublicId('SubscriptionId')])]) {
      const { claim } = await waiting(rig);
      const looks = looksOf(rig);
      await other.happen();
      rig.deliveriesDue.wakeByOther(named);
      expect(subscriptionsOf(await claim)).toEqual([id]);
      expect(looks.count).toBe(1);
      jest.restoreAllMocks();
    }
  });

  test('looks at all that is due if more is named than it looks at', async () => {
    const { other, ...rig } = await nodes(under);
    const id = await rig.subscribe();
    const { claim } = await waiting(rig, { freeSlots: 1 });
    const looks = looksOf(rig);
    await other.happen();
    const others = Array.from({ length: 16 }, () => newPublicId('SubscriptionId'));
    rig.deliveriesDue.wakeByOther(new Set([...others, id]));
    expect(subscriptionsOf(await claim)).toEqual([id]);
    expect(looks.count).toBe(1);
  });

  test('looks at all again after it has found nothing of what was named, and waits on', async () => {
    const { other, ...rig } = await nodes(under);
    const id = await rig.subscribe();
    const { claim } = await waiting(rig);
    const news = jest.spyOn(rig.deliveriesDue, 'news');
    const looks = looksOf(rig);
    rig.deliveriesDue.wakeByOther(new Set([id]));
    await eventually('a claim that waits on', () => news.mock.calls.length > 0);
    expect(looks.count).toBe(1);
    await other.happen();
    rig.deliveriesDue.wakeByOther(new Set([id]));
    expect(subscriptionsOf(await claim)).toEqual([id]);
  });

  test('begins nothing for those named that are disabled or full', async () => {
    const { other, ...rig } = await nodes(under);
    const [full, disabled] = [await rig.subscribe(), await rig.subscribe({ status: 'DISABLED' })];
    await other.happen();
    await rig.claim();
    await other.happen();
    const caller = new AbortController();
    const { claim } = await waiting(rig, { maxRunningPerSubscription: 1 }, caller.signal);
    const news = jest.spyOn(rig.deliveriesDue, 'news');
    rig.deliveriesDue.wakeByOther(new Set([full, disabled]));
    await eventually('a claim that waits on', () => news.mock.calls.length > 0);
    caller.abort();
    expect((await claim).deliveries).toEqual([]);
  });

  test('leaves what was named to another when its caller hangs up', async () => {
    const { other, ...rig } = await nodes(under);
    const id = await rig.subscribe();
    const caller = new AbortController();
    const { claim: given } = await waiting(rig, {}, caller.signal);
    const { claim: patient } = await waiting(rig);
    await other.happen();
    rig.deliveriesDue.wakeByOther(new Set([id]));
    caller.abort();
    expect((await given).deliveries).toEqual([]);
    expect(subscriptionsOf(await patient)).toEqual([id]);
  });

  test('leaves what was named to another when its look fails', async () => {
    const { other, ...rig } = await nodes(under);
    const id = await rig.subscribe();
    const { claim: failing } = await waiting(rig);
    const { claim: patient } = await waiting(rig);
    await other.happen();
    jest.spyOn(rig.dependencies.unitOfWork, 'run').mockRejectedValueOnce(new Error('This look fails.'));
    rig.deliveriesDue.wakeByOther(new Set([id]));
    await expect(failing).rejects.toThrow('This look fails.');
    expect(subscriptionsOf(await patient)).toEqual([id]);
  });

  test('begins nothing of what was named when the domain stops while it waits for its turn', async () => {
    const { other, ...rig } = await nodes(under);
    const id = await rig.subscribe();
    const { claim } = await waiting(rig);
    const { told, tell: release } = signalled<[]>();
    const look = jest.spyOn(rig.dependencies.unitOfWork.rows, 'dueSubscriptions').mockReturnValueOnce(told);
    const before = rig.claim();
    await eventually('a claim that looks', () => look.mock.calls.length > 0);
    await other.happen();
    rig.deliveriesDue.wakeByOther(new Set([id]));
    await new Promise(setImmediate);
    rig.deliveriesDue.close();
    release([]);
    expect((await before).deliveries).toEqual([]);
    expect((await claim).deliveries).toEqual([]);
    expect(await rig.deliveries()).toMatchObject([{ attempts_begun: 0 }]);
  });

  test('leaves the round of all subscriptions where it was', async () => {
    const { other, ...rig } = await nodes(under);
    const ids: SubscriptionId[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push(await rig.subscribe());
    }
    const [first, ...rest] = ids.sort();
    const received = async (claim: Awaited<ReturnType<typeof rig.claim>>) => {
      await rig.record(...claim.deliveries.map(({ id }) => succeeded(id)));
      return subscriptionsOf(claim);
    };
    await other.happen();
    for (const id of [first, ...rest]) {
      expect(await received(await rig.claim({ freeSlots: 1 }))).toEqual([id]);
    }
    const { claim } = await waiting(rig, { freeSlots: 1 });
    await other.happen();
    rig.deliveriesDue.wakeByOther(new Set([first as SubscriptionId]));
    expect(await received(await claim)).toEqual([first]);
    // The round had ended with the last one, so it begins again, with what the first one has got since.
    await other.happen();
    expect(subscriptionsOf(await rig.claim({ freeSlots: 1 }))).toEqual([first]);
  });

  test('still lets ended attempts wake it for those that were held back', async () => {
    const { other, ...rig } = await nodes(under);
    const held = await rig.subscribe();
    await other.happen();
    await other.happen();
    const { deliveries } = await rig.claim();
    await other.happen();
    const { claim } = await waiting(rig, { maxRunningPerSubscription: 2 });
    const later = await rig.subscribe({ event_types: '["worker.updated"]' });
    await other.happen({ type: 'worker.updated' });
    rig.deliveriesDue.wakeByOther(new Set([later]));
    expect(subscriptionsOf(await claim)).toEqual([later]);
    const { count } = rig.deliveriesDue;
    await rig.record(...deliveries.map(({ id }) => succeeded(id)));
    expect(rig.deliveriesDue.count).toBe(count + 1);
    expect(subscriptionsOf(await rig.claim())).toContain(held);
  });
});

describeEachDatabase('the first look of a claim', (under) => {
  test('is for all that is due, whatever wakes have named before', async () => {
    const { other, ...rig } = await nodes(under);
    const ids = [await rig.subscribe(), await rig.subscribe()];
    await other.happen();
    rig.deliveriesDue.wakeByOther(new Set(ids.slice(0, 1)));
    expect(subscriptionsOf(await rig.claim()).sort()).toEqual(ids.sort());
  });
});
