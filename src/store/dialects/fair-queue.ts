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
  readonly #lanes = new Map<string, Job[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(job: Job, lane: string | undefined): void {
    if (lane === undefined) {
      this.#own.push(job);
    } else {
      const jobs = this.#lanes.get(lane) ?? [];
      if (jobs.length >= MOST_IN_LANE || this.#length >= MOST_IN_ALL) {
        throw tooMany();
      }
      jobs.push(job);
      this.#lanes.set(lane, jobs);
    }
    this.#length += 1;
  }

  take(most: number): Job[] {
    const others = this.#length - this.#own.length;
    const taken = this.#own.splice(0, Math.max(Math.ceil(most / 2), most - others));
    while (taken.length < most) {
      const [next] = this.#lanes;
      if (!next) {
        break;
      }
      const [lane, jobs] = next;
      taken.push(jobs.shift() as Job);
      // Moves the lane to the end.
      this.#lanes.delete(lane);
      if (jobs.length > 0) {
        this.#lanes.set(lane, jobs);
      }
    }
    this.#length -= taken.length;
    return taken;
  }
}
