import { expect, test } from '@jest/globals';
import type { DeliveryId, SubscriptionId } from '../../../../../generated/ids.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { newConnection } from '../subscriptions/rig.js';
import {
  LEASE_MS,
  plantSecret,
  refused,
  type SendingNode,
  sendingNode,
  sendingRig,
  succeeded,
  twoSendingNodes,
} from './rig.js';

type Claim = Awaited<ReturnType<Awaited<ReturnType<typeof sendingRig>>['claim']>>;

/** How many of the claimed deliveries go to each subscription. */
function countsIn({ deliveries, targets }: Claim): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { target } of deliveries) {
    const id = targets[target]?.subscriptionId ?? '';
    counts[id] = (counts[id] ?? 0) + 1;
  }
  return counts;
}

async function times(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await work();
  }
}

describeEachDatabase('a claim', (under) => {
  test('begins the first attempt of what is due, under a lease', async () => {
    const rig = await sendingRig(under);
    const subscription = await rig.subscribe({ url: 'https://one.example.com/in' });
    await rig.happen();
    rig.clock.advance(5);
    const claim = await rig.claim();
    const [delivery] = await rig.deliveries();
    expect(claim).toMatchObject({
      leaseUntil: rig.clock.now() + LEASE_MS,
      deliveries: [{ id: delivery?.id, target: 0, body: 0 }],
      targets: [{ subscriptionId: subscription, url: 'https://one.example.com/in' }],
    });
    expect(delivery).toMatchObject({
      ...{ status: 'PENDING', attempts_begun: 1, attempt_started_at: rig.clock.now() },
      ...{ lease_until: rig.clock.now() + LEASE_MS, next_attempt_at: null },
    });
    expect(await rig.claim()).toMatchObject({ deliveries: [], targets: [], bodies: [] });
  });

  test('takes no more than there are free slots, the oldest first', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await times(5, async () => {
      rig.clock.advance(1);
      await rig.happen();
    });
    const ids = (await rig.deliveries()).map(({ id }) => id);
    const claimed = async (freeSlots: number) =>
      (await rig.claim({ freeSlots })).deliveries.map(({ id }) => id);
    expect(await claimed(2)).toEqual(ids.slice(0, 2));
    expect(await claimed(2)).toEqual(ids.slice(2, 4));
    expect(await claimed(2)).toEqual(ids.slice(4));
  });

  test('gives each subscription an equal part, and what one does not need to the others', async () => {
    const rig = await sendingRig(under);
    const busy = await rig.subscribe({ event_types: '["*"]' });
    const calm = await rig.subscribe({ event_types: '["client.created"]' });
    await times(30, () => rig.happen());
    await times(3, () => rig.happen({ type: 'client.created' }));
    expect(countsIn(await rig.claim({ freeSlots: 4 }))).toEqual({ [busy]: 2, [calm]: 2 });
    expect(countsIn(await rig.claim({ freeSlots: 10 }))).toEqual({ [busy]: 9, [calm]: 1 });
  });

  test('continues with the next subscription where the last claim ended', async () => {
    const rig = await sendingRig(under);
    const ids = [await rig.subscribe(), await rig.subscribe(), await rig.subscribe()].sort();
    await times(2, () => rig.happen());
    const served: string[] = [];
    await times(6, async () => {
      served.push(...Object.keys(countsIn(await rig.claim({ freeSlots: 1 }))));
    });
    expect(served).toEqual([...ids, ...ids]);
  });

  test('leaves no more running to one subscription than may, whichever nodes ask', async () => {
    const rig = await sendingRig(under);
    const other = sendingNode(rig.database, rig.connection, rig.clock);
    const subscription = await rig.subscribe();
    await times(20, () => rig.happen());
    const claims = await Promise.all(
      [rig, other, rig, other].map(({ claim }) => claim({ freeSlots: 4, maxRunningPerSubscription: 5 })),
    );
    expect(claims.flatMap(({ deliveries }) => deliveries)).toHaveLength(5);
    const [first] = claims.flatMap(({ deliveries }) => deliveries);
    await rig.record(succeeded(first?.id as never));
    const next = await rig.claim({ maxRunningPerSubscription: 5 });
    expect(countsIn(next)).toEqual({ [subscription]: 1 });
  });

  test('leaves only a few running to a subscription that fails, until it succeeds', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    await times(30, () => rig.happen());
    const first = await rig.claim({ freeSlots: 1 });
    await rig.record(refused(first.deliveries[0]?.id as never));
    const trial = await rig.claim();
    expect(trial.deliveries).toHaveLength(4);
    await rig.record(succeeded(trial.deliveries[0]?.id as never));
    expect((await rig.claim()).deliveries).toHaveLength(25);
  });

  test('lets those that fail share an eighth of all slots, and each have a few at least meanwhile', async () => {
    const rig = await sendingRig(under);
    const failing = [await rig.subscribe(), await rig.subscribe()];
    await times(60, () => rig.happen());
    const first = await rig.claim({ freeSlots: 2 });
    await rig.record(...first.deliveries.map(({ id }) => refused(id)));
    const well = await rig.subscribe();
    await times(60, () => rig.happen());
    const totalSlots = 320;
    const claim = await rig.claim({ freeSlots: 318, totalSlots, maxRunningPerSubscription: 64 });
    expect(countsIn(claim)).toEqual({ ...Object.fromEntries(failing.map((id) => [id, 20])), [well]: 60 });
    const again = await rig.claim({ freeSlots: 200, totalSlots, maxRunningPerSubscription: 64 });
    expect(again.deliveries).toEqual([]);
  });

  test('gives those that fail no more than that in all, also when their events come one after the other', async () => {
    const rig = await sendingRig(under);
    const claimed: number[] = [];
    for (let index = 0; index < 6; index += 1) {
      const id = await rig.subscribe({ failing_since: 1 });
      await times(16, () => rig.happen());
      const claim = await rig.claim({ totalSlots: 320, maxRunningPerSubscription: 16 });
      claimed.push(claim.deliveries.length);
      await rig.database.write((writer) =>
        writer.updateTable('subscriptions').set({ event_types: '["none"]' }).where('id', '=', id).execute(),
      );
    }
    expect(claimed).toEqual([16, 16, 8, 1, 1, 1]);
  });

  test('gives those that fail no more than half of all slots, each in its turn, and the rest to the others', async () => {
    const rig = await sendingRig(under);
    const failing: SubscriptionId[] = [];
    await times(12, async () => failing.push(await rig.subscribe({ failing_since: 1 })));
    await times(4, () => rig.happen());
    const served = new Set<string>();
    const fill = async () => {
      const claims = [await rig.claim({ totalSlots: 16 }), await rig.claim({ totalSlots: 16 })];
      const deliveries = claims.flatMap(({ deliveries }) => deliveries);
      expect(deliveries).toHaveLength(8);
      for (const id of claims.flatMap((claim) => Object.keys(countsIn(claim)))) {
        served.add(id);
      }
      return deliveries.map(({ id }) => id);
    };
    await times(3, async () => rig.record(...(await fill()).map((id) => refused(id))));
    expect([...served].sort()).toEqual(failing.sort());
    await fill();
    const well = await rig.subscribe();
    await rig.happen();
    expect(countsIn(await rig.claim({ totalSlots: 16 }))).toEqual({ [well]: 1 });
  });

  test('serves those that fail in turn, however many more there are than slots for them', async () => {
    const rig = await sendingRig(under);
    const failing: SubscriptionId[] = [];
    await times(100, async () => failing.push(await rig.subscribe({ failing_since: 1 })));
    await times(6, () => rig.happen());
    const served: string[] = [];
    const fill = async () => {
      const ids: DeliveryId[] = [];
      for (let found = 1; found > 0; ) {
        const { deliveries, targets } = await rig.claim({ totalSlots: 32, freeSlots: 32 });
        found = deliveries.length;
        ids.push(...deliveries.map(({ id }) => id));
        served.push(...targets.map(({ subscriptionId }) => subscriptionId));
      }
      return ids;
    };
    // All end together, as attempts do that run into the same time-out.
    await times(8, async () => rig.record(...(await fill()).map((id) => refused(id))));
    expect([...new Set(served)].sort()).toEqual(failing.sort());
  });

  test('keeps the place of one that waits when a claim is rolled back', async () => {
    const rig = await sendingRig(under);
    const failing = (type: string) => rig.subscribe({ failing_since: 1, event_types: `["${type}.*"]` });
    await failing('a');
    await rig.happen({ type: 'a.x' });
    const running = (await rig.claim({ totalSlots: 2 })).deliveries[0]?.id as DeliveryId;
    const waiting = [];
    for (const type of ['b', 'c']) {
      waiting.push(await failing(type));
      await rig.happen({ type: `${type}.x` });
      await rig.claim({ totalSlots: 2 });
    }
    await rig.record(refused(running));
    const { run } = rig.dependencies.unitOfWork;
    rig.dependencies.unitOfWork.run = (work) =>
      run(async (changes) => {
        await work(changes);
        throw new Error('This write is rolled back.');
      });
    await expect(rig.claim({ totalSlots: 2 })).rejects.toThrow('rolled back');
    rig.dependencies.unitOfWork.run = run;
    const { targets } = await rig.claim({ totalSlots: 2 });
    expect(targets.map(({ subscriptionId }) => subscriptionId)).toEqual(waiting.slice(0, 1));
  });

  test('finds the one subscription with room behind any number of those that have none', async () => {
    const rig = await sendingRig(under);
    const full: SubscriptionId[] = [];
    for (let index = 0; index < 40; index += 1) {
      full.push(await rig.subscribe());
    }
    await times(2, () => rig.happen());
    expect((await rig.claim({ maxRunningPerSubscription: 1 })).deliveries).toHaveLength(40);
    const roomy = await rig.subscribe({ event_types: '["client.created"]' });
    await rig.happen({ type: 'client.created' });
    const claim = await rig.claim({ freeSlots: 1, maxRunningPerSubscription: 1 });
    expect(countsIn(claim)).toEqual({ [roomy]: 1 });
    expect((await rig.claim({ freeSlots: 1, maxRunningPerSubscription: 1 })).deliveries).toEqual([]);
  });

  test('gives the last eighth of all slots only to instance integrations that have fewer than are free', async () => {
    const rig = await sendingRig(under);
    await times(3, () => rig.subscribe());
    await times(20, () => rig.happen());
    const claimed = async (freeSlots: number) =>
      (await rig.claim({ freeSlots, totalSlots: 32 })).deliveries.map(({ id }) => id);
    const slow = await claimed(32);
    expect(slow).toHaveLength(28);
    expect(await claimed(4)).toEqual([]);
    for (const [freeSlots, expected] of [[4, 2] as const, [2, 1] as const, [1, 1] as const]) {
      const { id: instance_integration_id, instanceId, clientId } = await newConnection(rig.database);
      await rig.subscribe({ instance_integration_id, instance_id: instanceId });
      await times(10, () => rig.happen({ instanceId, clientId }));
      expect(await claimed(freeSlots)).toHaveLength(expected);
    }
    expect(await claimed(1)).toEqual([]);
    const { count } = rig.deliveriesDue;
    await rig.record(...slow.map((id) => succeeded(id)));
    // Wakes the claim that found no slot for those.
    expect(rig.deliveriesDue.count).toBeGreaterThan(count);
    expect(await claimed(12)).toHaveLength(12 - 4 + 2);
  });

  test.each([15, 16, 24, 32])('serves all of %d in turn, although last slots are free', async (count) => {
    const rig = await sendingRig(under);
    const all: string[] = [];
    await times(count, async () => all.push(await rig.subscribe()));
    await times(30, () => rig.happen());
    const served = new Set<string>();
    await times(30, async () => {
      const { deliveries, targets } = await rig.claim({ freeSlots: 8, totalSlots: 8 });
      expect(deliveries).toHaveLength(7);
      for (const { subscriptionId } of targets) {
        served.add(subscriptionId);
      }
      await rig.record(...deliveries.map(({ id }) => succeeded(id)));
    });
    expect([...served].sort()).toEqual(all.sort());
  });

  test('gives the last slots in turn to all that may have them', async () => {
    const rig = await sendingRig(under);
    const busy = await rig.subscribe();
    await times(8, () => rig.happen());
    expect(countsIn(await rig.claim({ freeSlots: 8, totalSlots: 8 }))).toEqual({ [busy]: 7 });
    const { id: instance_integration_id, instanceId, clientId } = await newConnection(rig.database);
    const quiet: string[] = [];
    await times(20, async () =>
      quiet.push(await rig.subscribe({ instance_integration_id, instance_id: instanceId })),
    );
    await times(2, () => rig.happen({ instanceId, clientId }));
    const served: string[] = [];
    await times(20, async () => {
      const { deliveries, targets } = await rig.claim({ freeSlots: 1, totalSlots: 8 });
      served.push(...targets.map(({ subscriptionId }) => subscriptionId));
      await rig.record(...deliveries.map(({ id }) => succeeded(id)));
    });
    expect(served.sort()).toEqual(quiet.sort());
  });

  test('counts what the integration has on all nodes, to all its subscriptions', async () => {
    const { one, other } = await twoSendingNodes(under);
    const busy = await one.subscribe({ event_types: '["a.x"]' });
    await times(8, () => one.happen({ type: 'a.x' }));
    expect(countsIn(await one.claim({ totalSlots: 32 }))).toEqual({ [busy]: 8 });
    const second = await other.subscribe({ event_types: '["b.x"]' });
    await times(8, () => other.happen({ type: 'b.x' }));
    expect((await other.claim({ freeSlots: 4, totalSlots: 32 })).deliveries).toEqual([]);
    expect(countsIn(await other.claim({ freeSlots: 7, totalSlots: 32 }))).toEqual({ [second]: 3 });
  });

  test('begins with the subscriptions that have the fewest running attempts', async () => {
    const rig = await sendingRig(under);
    const ids = [await rig.subscribe(), await rig.subscribe(), await rig.subscribe()].sort();
    await times(4, () => rig.happen());
    const { deliveries, targets } = await rig.claim({ freeSlots: 6 });
    const ended = deliveries.filter(({ target }) => targets[target]?.subscriptionId === ids[1]);
    await rig.record(...ended.map(({ id }) => succeeded(id)));
    expect(countsIn(await rig.claim({ freeSlots: 1 }))).toEqual({ [ids[1] as string]: 1 });
  });

  test('never gives one delivery to two, of twenty relays on two nodes', async () => {
    const { one, other } = await twoSendingNodes(under);
    const nodes = [one, other];
    await times(4, () => one.subscribe());
    await times(25, () => one.happen());
    const claims: Claim[] = [];
    // Some bring nothing, because the other node has all subscriptions at that time.
    const relay = async ({ claim }: SendingNode) => {
      while (claims.flatMap(({ deliveries }) => deliveries).length < 100) {
        claims.push(await claim({ freeSlots: 7 }));
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => relay(nodes[index % 2] as SendingNode)));
    const ids = claims.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
    expect(ids).toHaveLength(100);
    expect(new Set(ids).size).toBe(100);
    expect(Math.max(...claims.map(({ deliveries }) => deliveries.length))).toBe(7);
  });

  test('names what several deliveries share once', async () => {
    const rig = await sendingRig(under);
    await times(3, () => rig.subscribe());
    const elsewhere = await newConnection(rig.database);
    await rig.subscribe({ instance_integration_id: elsewhere.id });
    await times(2, () => rig.happen());
    const { deliveries, targets, bodies } = await rig.claim();
    expect([deliveries.length, targets.length, bodies.length]).toEqual([8, 4, 4]);
    const pairs = deliveries.map(
      ({ target, body }) => `${targets[target]?.subscriptionId} ${bodies[body]?.body}`,
    );
    expect(new Set(pairs).size).toBe(8);
    const rows = await rig.deliveries();
    for (const { id, target, body } of deliveries) {
      const row = rows.find((one) => one.id === id);
      expect(row).toMatchObject({
        subscription_id: targets[target]?.subscriptionId,
        event_id: bodies[body]?.eventId,
      });
    }
  });

  test('brings every secret that signs now, the newest first', async () => {
    const rig = await sendingRig(under);
    const now = rig.clock.now();
    const subscription = await rig.subscribe();
    const ending = await plantSecret(rig.database, subscription, { created_at: 2, expires_at: now + 10 });
    await plantSecret(rig.database, subscription, { created_at: 3, expires_at: now });
    const newest = await plantSecret(rig.database, subscription, { created_at: 4 });
    await rig.happen();
    const { targets } = await rig.claim();
    expect(targets[0]?.signingSecrets).toHaveLength(3);
    expect(targets[0]?.signingSecrets.slice(0, 2)).toEqual([newest, ending]);
    rig.clock.advance(10);
    await rig.happen();
    expect((await rig.claim()).targets[0]?.signingSecrets).toHaveLength(2);
  });

  test('leaves out a subscription with nothing to sign with, says so, and serves the others', async () => {
    const rig = await sendingRig(under);
    const [unsigned, unreadable, sound] = [
      await rig.subscribe(),
      await rig.subscribe(),
      await rig.subscribe(),
    ];
    const { database } = rig;
    await database.write(async (writer) => {
      await writer.deleteFrom('subscription_secrets').where('subscription_id', '=', unsigned).execute();
      const changed = { sealed: 'AQ' };
      const ofIt = writer.updateTable('subscription_secrets').where('subscription_id', '=', unreadable);
      await ofIt.set(changed).execute();
    });
    await rig.happen();
    expect(countsIn(await rig.claim())).toEqual({ [sound]: 1 });
    expect(rig.unsendable.sort()).toEqual([unsigned, unreadable].sort());
    const left = (await rig.deliveries()).filter(({ attempts_begun }) => attempts_begun === 0);
    expect(left).toHaveLength(2);

    // It is looked at several times a second.
    await rig.claim();
    expect(rig.unsendable).toHaveLength(2);
    rig.clock.advance(60_000);
    await rig.claim();
    expect(rig.unsendable).toHaveLength(4);
  });
});
