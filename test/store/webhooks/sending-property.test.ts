import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { DeliveryId } from '../../../generated/ids.js';
import { holdPending } from '../../../src/store/adapters/webhooks/subscription-deliveries.js';
import { fakeClock } from '../../domain/clock.js';
import { describeEachDatabase } from '../../support/databases.js';
import { LEASE_MS, refused, sendingNode, succeeded } from './sending-rig.js';
import { newConnection } from './subscription-rig.js';

type Status = 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'HELD';

/** What the rules say of one delivery, in the fewest words. */
class Model {
  status: Status = 'PENDING';
  begun = 0;
  leaseUntil: number | undefined;
  readonly ended = new Set<number>();
  readonly succeeded = new Set<number>();

  begins(number: number, now: number): boolean {
    this.lapse(now);
    const begins = this.status === 'PENDING' && this.begun === number - 1 && this.leaseUntil === undefined;
    if (begins) {
      this.begun = number;
      this.leaseUntil = now + LEASE_MS;
    }
    return begins;
  }

  lapse(now: number): void {
    if (this.leaseUntil !== undefined && this.leaseUntil <= now) {
      this.fail(this.begun);
    }
  }

  succeed(number: number): void {
    if (number <= this.begun) {
      this.succeeded.add(number);
      this.end(number);
      this.status = 'DELIVERED';
    }
  }

  fail(number: number): void {
    if (number <= this.begun && !this.ended.has(number)) {
      this.end(number);
      this.exhaust(number === 3);
    }
  }

  exhaust(is: boolean): void {
    this.status = is && this.status === 'PENDING' ? 'EXHAUSTED' : this.status;
  }

  hold(): void {
    this.status = this.status === 'PENDING' ? 'HELD' : this.status;
  }

  private end(number: number): void {
    this.ended.add(number);
    this.leaseUntil = number === this.begun ? undefined : this.leaseUntil;
  }
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('begin' as const), number: fc.integer({ min: 2, max: 4 }) }),
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
            case 'begin':
              expect('begun' in (await node.begin(id, one.number))).toBe(model.begins(one.number, now));
              break;
            case 'claim': {
              // A second later, so that it looks for leases that are over.
              clock.advance(1_000);
              model.lapse(clock.now());
              const claimed = (await node.claim()).deliveries.some((delivery) => delivery.id === id);
              expect(claimed).toBe(model.begins(1, clock.now()));
              break;
            }
            case 'fail':
              await node.record(refused(id, one.number));
              model.fail(one.number);
              break;
            case 'succeed':
              await node.record(succeeded(id, one.number));
              model.succeed(one.number);
              break;
            case 'give up':
              await node.giveUp(id);
              model.exhaust(true);
              break;
            case 'hold':
              await database.write((writer) => holdPending(writer, subscription));
              model.hold();
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
            waits: next_attempt_at !== null,
          };
        }

        function expected() {
          const { status, begun, leaseUntil } = model;
          return {
            ...{ status, begun, leaseUntil },
            ended: [...model.ended].sort(),
            succeeded: [...model.succeeded].sort(),
            waits: status === 'PENDING' && begun > 0 && leaseUntil === undefined,
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
  const retries: Step[] = [2, 3].flatMap((number) => [{ do: 'begin' as const, number }, ...lapsed]);
  return [...lapsed, ...lapsed, ...retries];
}
