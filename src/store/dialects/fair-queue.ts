import { tooMany } from './turns.js';

/** Of one lane: a quarter of a second's work, and more than any caller of ours sends at once. */
const MOST_IN_LANE = 1_000;
const MOST_IN_ALL = 10_000;

/**
 * What waits to be written, in lanes: those of tenants take turns, so that a long one does not make the others wait for all of it, and half of each
 * group is for what has no lane, such as sign-on and deliveries. Each lane keeps its order.
 */
export class FairQueue<Job> {
  readonly #own: Job[] = [];
  readonly #lanes = new Map<string, Job[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(job: Job, lane: string | undefined): void {
    const jobs = lane === undefined ? this.#own : (this.#lanes.get(lane) ?? []);
    if (lane !== undefined && (jobs.length >= MOST_IN_LANE || this.#length >= MOST_IN_ALL)) {
      throw tooMany();
    }
    jobs.push(job);
    if (lane !== undefined) {
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
      // Behind the other lanes.
      this.#lanes.delete(lane);
      if (jobs.length > 0) {
        this.#lanes.set(lane, jobs);
      }
    }
    this.#length -= taken.length;
    return taken;
  }
}
