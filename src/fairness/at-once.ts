import { Lanes } from './lanes.js';
import { OwnerSlots } from './owner-slots.js';

interface Options {
  /** How many of one lane run at once. */
  perLane?: number;
  /** How long a piece still waits when its turn comes. */
  pauseMs?: () => number;
  /** After work that `endsTurn`, or fails, its place stays empty for as long as the work took. */
  rests?: boolean;
}

/** Runs a limited number of pieces of work at once. Others wait in lanes, which take turns. */
export class AtOnce {
  readonly #waiting = new Lanes<() => void>();
  readonly #slots: OwnerSlots;

  constructor(
    most: number,
    private readonly options: Options = {},
  ) {
    this.#slots = new OwnerSlots({ inTotal: most, kept: 0, perOwner: options.perLane ?? most });
  }

  waitingIn(lane: string): number {
    return this.#waiting.waitingIn(lane);
  }

  /** After work that `endsTurn`, or fails, the next one begins in the next turn of the event loop. */
  async run<T>(lane: string, work: () => Promise<T>, endsTurn = (_: T) => false): Promise<T> {
    if (!this.#slots.take(lane)) {
      await new Promise<void>((begin) => this.#waiting.add(lane, begin));
    }
    const begunAt = performance.now();
    let isNextSoon = false;
    try {
      const done = await work();
      isNextSoon = !endsTurn(done);
      return done;
    } finally {
      if (isNextSoon) {
        this.#passOn(lane);
      } else if (this.options.rests) {
        setTimeout(() => this.#passOn(lane), performance.now() - begunAt).unref();
      } else {
        setImmediate(() => this.#passOn(lane));
      }
    }
  }

  #passOn(lane: string): void {
    this.#slots.give(lane);
    for (;;) {
      const begin = this.#waiting.next((waiting) => this.#slots.take(waiting));
      if (!begin) {
        return;
      }
      const pauseMs = this.options.pauseMs?.() ?? 0;
      if (pauseMs > 0) {
        setTimeout(begin, pauseMs);
      } else {
        begin();
      }
    }
  }
}
