import { Lanes } from '../../fairness/lanes.js';
import { tooMany } from './turns.js';

/** Per lane: more than the imports of one token have under way, 128 lines in each of 32 calls. */
const MOST_IN_LANE = 5_000;
const MOST_IN_ALL = 10_000;

/**
 * Writes that wait, in lanes: lanes of tenants take turns, and every other turn is for writes without a lane,
 * such as sign-on and deliveries. Each lane keeps its order.
 */
export class FairQueue<Job> {
  readonly #own: Job[] = [];
  readonly #lanes = new Lanes<Job>();
  #wasOwn = false;

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

  next(): Job | undefined {
    const isOwn = this.#own.length > 0 && !(this.#wasOwn && this.#lanes.count > 0);
    this.#wasOwn = isOwn;
    return isOwn ? this.#own.shift() : this.#lanes.next();
  }
}
