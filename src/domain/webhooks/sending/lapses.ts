import { recordTogether } from './records.js';
import type { AttemptResult } from './results.js';
import type { SendingDependencies } from './sending.js';

const SWEEP_EVERY_MS = 1_000;
/** The part of the time for searches, which may read many rows that the database cannot remove yet. */
const MOST_OF_SEARCHES = 1 / 20;
const LONGEST_PAUSE_MS = 5_000;
const MAX_SWEPT_AT_ONCE = 500;

const INTERRUPTED: Omit<AttemptResult['attempt'], 'number'> = {
  outcome: 'INTERRUPTED',
  durationMs: null,
  httpStatus: null,
  message:
    'The sender was lost before it could report, so it is unknown whether the receiver got the delivery.',
  responseStart: null,
};

/** Ends attempts whose lease has lapsed, between the claims of a domain. */
export class LapseSweeps {
  #sweptAt = Number.NEGATIVE_INFINITY;
  #pauseMs = SWEEP_EVERY_MS;
  /** The clock may have been set back before the start. */
  #mayBeSetBack = true;
  #isSweeping = false;
  #lastSweep: Promise<boolean> = Promise.resolve(false);

  constructor(private readonly dependencies: SendingDependencies) {}

  /**
   * Begins a sweep if one is due. Waits for its end only if the clock may have been set back, and then until
   * the caller leaves or the domain stops at most.
   */
  async sweepIfDue(caller: AbortSignal): Promise<void> {
    const now = this.dependencies.clock();
    if (!this.#isSweeping && Math.abs(now - this.#sweptAt) >= this.#pauseMs) {
      this.#lastSweep = this.#sweep(now);
    }
    if (this.#mayBeSetBack) {
      await untilAborted(this.#lastSweep, AbortSignal.any([caller, this.#closing]));
    }
  }

  /** Resolves when no sweep runs, and tells whether the last one ended attempts. */
  settled(): Promise<boolean> {
    return this.#lastSweep;
  }

  get #closing(): AbortSignal {
    return this.dependencies.deliveriesDue.closing;
  }

  /** Reports a failure; the next sweep tries again. */
  async #sweep(now: number): Promise<boolean> {
    this.#isSweeping = true;
    this.#mayBeSetBack ||= now < this.#sweptAt;
    try {
      if (this.#mayBeSetBack) {
        await this.#mendSetBack(now);
        this.#mayBeSetBack = false;
      }
      const startedAt = performance.now();
      const search = this.dependencies.unitOfWork.rows.anyLapsed(now);
      const isAny = await search.finally(() => {
        this.#pauseMs = pauseAfter(performance.now() - startedAt);
      });
      return isAny && !this.#closing.aborted && (await this.#endLapsed());
    } catch (error) {
      if (!this.#closing.aborted) {
        this.dependencies.onUnswept(error);
      }
      return false;
    } finally {
      this.#isSweeping = false;
      this.#sweptAt = this.dependencies.clock();
    }
  }

  /** Returns whether it ended any. */
  async #endLapsed(): Promise<boolean> {
    let count = 0;
    await recordTogether(this.dependencies, async (changes) => {
      const lapsed = await changes.lapsed(MAX_SWEPT_AT_ONCE);
      count = lapsed.length;
      // An attempt with a lapsed lease counts as made.
      return lapsed.map(({ id, attemptsBegun }) => ({
        deliveryId: id,
        attempt: { ...INTERRUPTED, number: attemptsBegun },
      }));
    });
    if (count > 0) {
      this.#pauseMs = SWEEP_EVERY_MS;
      // The lapsed attempts used slots that other deliveries may take now.
      this.dependencies.deliveriesDue.wake();
    }
    return count > 0;
  }

  /** Otherwise leases and retry delays would last until the clock reaches the old time again. */
  async #mendSetBack(now: number): Promise<void> {
    const { unitOfWork, onSetBack } = this.dependencies;
    // The clocks of nodes differ slightly, and results are recorded meanwhile.
    if (await unitOfWork.rows.anyLaterThan(now + SWEEP_EVERY_MS)) {
      const moved = await unitOfWork.run((changes) => changes.beginAnew());
      if (moved > 0) {
        onSetBack(moved);
      }
    }
  }
}

/** Resolves at the end of the work, or earlier when the signal is aborted. */
function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    work.then(end, end);
    if (signal.aborted) {
      end();
    }
  });
}

function pauseAfter(searchMs: number): number {
  return Math.max(SWEEP_EVERY_MS, Math.min(LONGEST_PAUSE_MS, searchMs / MOST_OF_SEARCHES));
}
