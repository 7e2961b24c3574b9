import { Lanes } from './lanes.js';

/** Runs a limited number of pieces of work at once. Others wait in lanes, which take turns. */
export class AtOnce {
  readonly #waiting = new Lanes<() => void>();
  #free: number;

  /** `pauseMs` is how long a piece still waits when its turn comes. */
  constructor(
    most: number,
    private readonly pauseMs = () => 0,
  ) {
    this.#free = most;
  }

  /** After work that `endsTurn`, or fails, the next one begins in the next turn of the event loop. */
  async run<T>(lane: string, work: () => Promise<T>, endsTurn = (_: T) => false): Promise<T> {
    if (this.#free > 0) {
      this.#free -= 1;
    } else {
      await new Promise<void>((begin) => this.#waiting.add(lane, begin));
    }
    let isNextSoon = false;
    try {
      const done = await work();
      isNextSoon = !endsTurn(done);
      return done;
    } finally {
      if (isNextSoon) {
        this.#passOn();
      } else {
        setImmediate(() => this.#passOn());
      }
    }
  }

  #passOn(): void {
    const begin = this.#waiting.next();
    if (!begin) {
      this.#free += 1;
      return;
    }
    const pauseMs = this.pauseMs();
    if (pauseMs > 0) {
      setTimeout(begin, pauseMs);
    } else {
      begin();
    }
  }
}
