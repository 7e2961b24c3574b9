import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { DeliveryId } from '../../../../../generated/ids.js';
import { MOST_CLOSED_AT_ONCE } from '../../../../../src/domain/webhooks/subscriptions/rows.js';
import { subscriptionDeliveryRows } from '../../../../../src/store/adapters/webhooks/subscriptions/deliveries.js';
import { fakeClock } from '../../../../domain/clock.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { newConnection } from '../subscriptions/rig.js';
import { LEASE_MS, refused, SETTINGS, SWEEP_PAUSE_MS, sendingNode, succeeded } from './rig.js';

type Status = 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'HELD';

/** What the rules say of one delivery, in the fewest words. */
class Model {
  status: Status = 'PENDING';
  begun = 0;
  leaseUntil: number | undefined;
  /** Of the next attempt; undefined while one runs and at the end. */
  dueAt: number | undefined = 0;
  readonly ended = new Set<number>();
  readonly succeeded = new Set<number>();

  makeDue(number: number, now: number): void {
    if (this.dueAt !== undefined && number === this.begun + 1) {
      this.dueAt = Math.min(this.dueAt, now);
    }
  }

  /** The number of the attempt that begins, if one does. */
  claim(now: number): number | undefined {
    if (this.leaseUntil !== undefined && this.leaseUntil <= now) {
      this.fail(this.begun, now);
    }
    if (this.dueAt === undefined || this.dueAt > now) {
      return undefined;
    }
    this.dueAt = undefined;
    this.begun += 1;
    this.leaseUntil = now + LEASE_MS;
    return this.begun;
  }

  succeed(number: number): void {
    if (number <= this.begun) {
      this.succeeded.add(number);
      this.end(number);
      this.status = 'DELIVERED';
      this.dueAt = undefined;
    }
  }

  fail(number: number, now: number): void {
    if (number <= this.begun && !this.ended.has(number)) {
      this.end(number);
      if (number === 3) {
        this.close('EXHAUSTED');
      } else if (number === this.begun && this.status === 'PENDING') {
        this.dueAt = now + (SETTINGS.retryDelaysMs[number - 1] ?? 0);
      }
    }
  }

  close(as: 'EXHAUSTED' | 'HELD'): void {
    if (this.status === 'PENDING') {
      this.status = as;
      this.dueAt = undefined;
    }
  }

  private end(number: number): void {
    this.ended.add(number);
    this.leaseUntil = number === this.begun ? undefined : this.leaseUntil;
  }
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('make due' as const), number: fc.integer({ min: 2, max: 4 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('fail' as const), number: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('succeed' as const), number: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('claim' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('wait' as const, 'lapse' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('give up' as const, 'hold' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

describeEachDatabase('whatever happens to a delivery', (under) => {
  const runs = under.kind === 'SQLite' ? 60 : 15;

  test('it goes as the model says, is attempted three times at most, and ends', async () => {
    const database = await under.openMigrated();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const clock = fakeClock();
        const node = sendingNode(database, await newConnection(database), clock);
        const subscription = await node.subscribe();
        await node.happen();
        const row = (await node.deliveries()).find(({ subscription_id }) => subscription_id === subscription);
        const id = row?.id as DeliveryId;
        const model = new Model();
        for (const one of [...steps, ...toTheEnd()]) {
          await take(one);
          expect({ step: one, ...(await seen()) }).toEqual({ step: one, ...expected() });
        }
        expect(model.status).not.toBe('PENDING');
        expect(model.begun).toBeLessThanOrEqual(3);

        async function take(one: Step): Promise<void> {
          const now = clock.now();
          switch (one.do) {
            case 'make due':
              await node.makeDue({ id, number: one.number });
              model.makeDue(one.number, now);
              break;
            case 'claim': {
              // It looks for leases that are over.
              clock.advance(SWEEP_PAUSE_MS);
              const claimed = (await node.claim()).deliveries.find((delivery) => delivery.id === id);
              expect(claimed?.number).toBe(model.claim(clock.now()));
              break;
            }
            case 'fail':
              await node.record(refused(id, one.number));
              model.fail(one.number, now);
              break;
            case 'succeed':
              await node.record(succeeded(id, one.number));
              model.succeed(one.number);
              break;
            case 'give up':
              await node.giveUp(id);
              model.close('EXHAUSTED');
              break;
            case 'hold':
              await database.write((writer) =>
                subscriptionDeliveryRows(writer).holdPending(subscription, MOST_CLOSED_AT_ONCE),
              );
              model.close('HELD');
              break;
            default:
              clock.advance(one.do === 'wait' ? 7_000 : LEASE_MS);
          }
        }

        async function seen() {
          const { status, attempts_begun, lease_until, next_attempt_at } = await node.delivery(id);
          const attempts = await node.attempts(id);
          return {
            ...{ status, begun: attempts_begun, leaseUntil: lease_until ?? undefined },
            ended: attempts.map(({ number }) => number),
            succeeded: attempts.flatMap(({ number, outcome }) => (outcome === 'SUCCEEDED' ? number : [])),
            dueAt: attempts_begun === 0 ? undefined : (next_attempt_at ?? undefined),
          };
        }

        function expected() {
          const { status, begun, leaseUntil, dueAt } = model;
          return {
            ...{ status, begun, leaseUntil },
            ended: [...model.ended].sort(),
            succeeded: [...model.succeeded].sort(),
            dueAt: begun === 0 ? undefined : dueAt,
          };
        }
      }),
      { numRuns: runs },
    );
  });
});

/** What relays and workflows do with whatever is left. */
function toTheEnd(): Step[] {
  const lapsed: Step[] = [{ do: 'lapse' }, { do: 'claim' }];
  const retries: Step[] = [2, 3].flatMap((number) => [
    { do: 'make due' as const, number },
    { do: 'claim' as const },
    ...lapsed,
  ]);
  return [...lapsed, ...lapsed, ...retries];
}
