import { Lanes } from '../../fairness/lanes.js';
import { tooMany } from './turns.js';

/** Per lane: more than the imports of one token have under way, 128 lines in each of 32 calls. */
const MOST_IN_LANE = 5_000;
const MOST_IN_ALL = 10_000;

/**
 * Writes that wait, in lanes: lanes of tenants take turns, and half of each group is for writes without a
 * lane, such as sign-on and deliveries. Each lane keeps its order.
 */
export class FairQueue<Job> {
  readonly #own: Job[] = [];
  readonly #lanes = new Lanes<Job>();

  get length(): number {
    return this.#own.length + this.#lanes.count;
  }

  push(job: Job, lane: string | undefined): void {
    if (lane === undefined) {
      this.#own.push(job);
    } else if (this.#lanes.waitingIn(lane) >= MOST_IN_LANE || this.length >= MOST_IN_ALL) {
      throw tooMany();
    } else {
      this.#lanes.add(lane, job);
    }
  }

  take(most: number): Job[] {
    const taken = this.#own.splice(0, Math.max(Math.ceil(most / 2), most - this.#lanes.count));
    while (taken.length < most && this.#lanes.count > 0) {
      taken.push(this.#lanes.next() as Job);
    }
    return taken;
  }
}
