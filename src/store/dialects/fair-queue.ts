import { Lanes } from '../../fairness/lanes.js';
import { tooMany } from './turns.js';

/** Per lane: more than the imports of one token have under way, 128 lines in each of 32 calls. */
const MOST_IN_LANE = 5_000;
const MOST_IN_ALL = 10_000;

/** After long writes of lanes, the others have a second of work at most before lanes get their turn again. */
const MOST_BEHIND_MS = 1_000;
/** After a long write without a lane, lanes work for so long at most, or for one write. */
const MOST_AHEAD_MS = 50;
/** A write counts as this long at least, also by a clock that has not moved. */
const LEAST_MS = 0.01;

/**
 * Writes that wait, in lanes: lanes of tenants take turns, and half of the time is for writes without a lane,
 * such as sign-on and deliveries. Each lane keeps its order.
 */
export class FairQueue<Job> {
  readonly #own: Job[] = [];
  readonly #lanes = new Lanes<Job>();
  /** How much longer the writes without a lane have worked than the others, while both waited. */
  #aheadMs = 0;
  #isOwn = false;

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
    if (this.#own.length === 0 || this.#lanes.count === 0) {
      this.#aheadMs = 0;
    }
    this.#isOwn = this.#own.length > 0 && (this.#lanes.count === 0 || this.#aheadMs <= 0);
    return this.#isOwn ? this.#own.shift() : this.#lanes.next();
  }

  /** Of the write that `next` returned last. */
  took(ms: number): void {
    const workedMs = Math.max(ms, LEAST_MS);
    const aheadMs = this.#aheadMs + (this.#isOwn ? workedMs : -workedMs);
    this.#aheadMs = Math.min(MOST_AHEAD_MS, Math.max(-MOST_BEHIND_MS, aheadMs));
  }
}
