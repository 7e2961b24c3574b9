import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { DeliveryId } from '../../../../../generated/ids.js';
import type { ClaimRequest } from '../../../../../src/domain/webhooks/sending/claims/claim.js';
import { fakeClock } from '../../../../domain/clock.js';
import { databaseUnderTest } from '../../../../support/databases.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../../../../support/eventually.js';
import { signalled } from '../../../../support/signalled.js';
import { newConnection } from '../subscriptions/rig.js';
import { type SendingNode, sendingNode, succeeded, twoSendingNodes } from './rig.js';

type Claim = Awaited<ReturnType<SendingNode['claim']>>;

const MOST_CLAIMS = 5_000;

/** Random ids may share a lock, and a claim for one subscription would then wait for that of another. */
function idOf(name: string): string {
  return `whs_${name.padStart(22, '0')}`;
}

/** A claim that has done its work, and whose transaction stays open until it is released. */
async function heldClaim(node: SendingNode, request: Partial<ClaimRequest> = {}) {
  const { unitOfWork } = node.dependencies;
  const { run } = unitOfWork;
  const { told: released, tell: release } = signalled();
  let claim: Promise<Claim> | undefined;
  await new Promise<void>((resolve) => {
    unitOfWork.run = (work, options) => {
      unitOfWork.run = run;
      return run(async (changes) => {
        const done = await work(changes);
        resolve();
        await released;
        return done;
      }, options);
    };
    claim = node.claim(request);
  });
  return { claim: claim as Promise<Claim>, release };
}

function idsIn({ deliveries, targets }: Claim): string[] {
  return deliveries.map(({ target }) => targets[target]?.subscriptionId ?? '');
}

describe('claims of several nodes at once, on PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('go on for one subscription while a claim for another is open', async () => {
    const { one, other } = await twoSendingNodes(under);
    const first = await one.subscribe({ id: idOf('first'), event_types: '["user.updated"]' });
    const second = await one.subscribe({ id: idOf('second'), event_types: '["client.created"]' });
    await one.happen();
    const held = await heldClaim(one);
    await one.happen();
    await one.happen({ type: 'client.created' });
    expect(idsIn(await other.claim())).toEqual([second]);
    const rest = other.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS });
    held.release();
    expect(idsIn(await held.claim)).toEqual([first]);
    expect(idsIn(await rest)).toEqual([first]);
  });

  test('begin nothing of a subscription that the open claim of another node has, and do not fail', async () => {
    const { one, other } = await twoSendingNodes(under);
    await one.subscribe();
    await one.happen();
    const held = await heldClaim(one);
    await one.happen();
    expect((await other.claim()).deliveries).toEqual([]);
    held.release();
    expect((await held.claim).deliveries).toHaveLength(1);
    expect((await other.claim()).deliveries).toHaveLength(1);
  });

  test('count what the claim before them began, although they looked before its commit', async () => {
    const { one, other } = await twoSendingNodes(under);
    await one.subscribe();
    await one.happen();
    const held = await heldClaim(one, { maxRunningPerSubscription: 1 });
    await one.happen();
    let isOver = false;
    const next = other.claim({ maxRunningPerSubscription: 1 }).finally(() => {
      isOver = true;
    });
    await eventually('a claim that waits for the other one', async () => {
      const { rows } = await sql`
        select from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())
      `.execute(one.database.reader);
      return rows.length > 0 || isOver;
    });
    held.release();
    await held.claim;
    expect((await next).deliveries).toEqual([]);
    expect((await other.claim({ maxRunningPerSubscription: 2 })).deliveries).toHaveLength(1);
  });

  test('share the limit of failing subscriptions, and meanwhile serve the others', async () => {
    const { one, other } = await twoSendingNodes(under);
    for (let index = 0; index < 40; index += 1) {
      await one.subscribe({ id: idOf(`${index}`), failing_since: 1 });
    }
    for (let index = 0; index < 4; index += 1) {
      await one.happen();
    }
    const request = { freeSlots: 16, totalSlots: 16 };
    const held = await heldClaim(one, request);
    expect((await other.claim(request)).deliveries).toEqual([]);
    const well = await one.subscribe({ id: idOf('well'), event_types: '["client.created"]' });
    await one.happen({ type: 'client.created' });
    expect(idsIn(await other.claim(request))).toEqual([well]);
    held.release();
    expect((await held.claim).deliveries).toHaveLength(8);
    expect((await other.claim(request)).deliveries).toEqual([]);
  });

  test('keep the turn of a failing subscription that waits for a slot while another claim has it', async () => {
    const { one, other } = await twoSendingNodes(under);
    const request = { totalSlots: 2, freeSlots: 1 };
    /** Its id begins with the letter, which is its place in the round. */
    const dueOf = async (letter: string): Promise<string> => {
      const id = `whs_${letter.repeat(22)}`;
      await one.subscribe({ id, failing_since: 1, event_types: `["${letter}.x"]` });
      await one.happen({ type: `${letter}.x` });
      return id;
    };
    await dueOf('b');
    const running = (await one.claim(request)).deliveries[0]?.id as DeliveryId;
    const waiting = [];
    for (const letter of ['c', 'e']) {
      waiting.push(await dueOf(letter));
      expect((await one.claim(request)).deliveries).toEqual([]);
    }
    await one.record(succeeded(running));
    const held = await heldClaim(other, request);
    // In the round it is before the second of those that wait.
    const later = await dueOf('d');
    expect((await one.claim(request)).deliveries).toEqual([]);
    held.release();
    const served = await held.claim;
    expect(idsIn(served)).toEqual(waiting.slice(0, 1));
    await one.record(succeeded(served.deliveries[0]?.id as DeliveryId));
    const next = await one.claim(request);
    expect(idsIn(next)).toEqual(waiting.slice(1));
    await one.record(succeeded(next.deliveries[0]?.id as DeliveryId));
    expect(idsIn(await one.claim(request))).toEqual([later]);
  });

  test('never run more than may, claim each delivery once and in order, and all in the end', async () => {
    const place = await under.newPlace();
    const databases = [
      await under.openMigrated(place),
      await under.open(place),
      await under.open(place),
    ] as const;
    const shape = fc.record({
      subscriptions: fc.integer({ min: 1, max: 8 }),
      events: fc.integer({ min: 1, max: 12 }),
      most: fc.integer({ min: 1, max: 4 }),
      freeSlots: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 6, maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(shape, async ({ subscriptions, events, most, freeSlots }) => {
        const connection = await newConnection(databases[0]);
        const clock = fakeClock();
        const nodes = databases.map((database) => sendingNode(database, connection, clock));
        const [first] = nodes as [SendingNode, ...SendingNode[]];
        const ids = new Set<string>();
        for (let index = 0; index < subscriptions; index += 1) {
          ids.add(await first.subscribe());
        }
        for (let index = 0; index < events; index += 1) {
          await first.happen();
        }
        const due = (await first.deliveries()).filter(({ subscription_id }) => ids.has(subscription_id));
        const claimed: string[] = [];
        let claims = 0;
        const relay = async (node: SendingNode, slots: number) => {
          while (claimed.length < due.length && claims < MOST_CLAIMS) {
            claims += 1;
            const { deliveries } = await node.claim({ freeSlots: slots, maxRunningPerSubscription: most });
            claimed.push(...deliveries.map(({ id }) => id));
            const { rows } = await sql<{ count: unknown }>`
              select count(*) as count from deliveries where lease_until is not null group by subscription_id
            `.execute(node.database.reader);
            expect(rows.filter(({ count }) => Number(count) > most)).toEqual([]);
            await node.record(...deliveries.map(({ id }) => succeeded(id)));
          }
        };
        await Promise.all(
          freeSlots.map((slots, index) => relay(nodes[index % nodes.length] as SendingNode, slots)),
        );
        expect([...claimed].sort()).toEqual(due.map(({ id }) => id).sort());
        if (most === 1) {
          for (const one of ids) {
            const inOrder = due.flatMap(({ id, subscription_id }) => (subscription_id === one ? id : []));
            expect(claimed.filter((id) => inOrder.includes(id as DeliveryId))).toEqual(inOrder);
          }
        }
      }),
      { numRuns: 10 },
    );
  });
});
