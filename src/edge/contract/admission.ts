import { randomInt } from 'node:crypto';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { Lanes } from '../../fairness/lanes.js';
import { inNextTurn } from '../../fairness/turns.js';

const LIMITS = {
  /**
   * Requests that begin in one turn of the event loop. Their calls leave the process at the end of the turn,
   * so the domain works on them while the edge prepares the next. Measured: with fewer, the extra turns cost
   * more than they save; with more, the domain idles.
   */
  perTurn: 8,
  /** Requests in progress: enough to keep the domain busy. Others wait here, where networks take turns. */
  atOnce: 128,
  /** A request in progress for longer does not count in `atOnce`: it waits, as for a password check. */
  longMs: 250,
  /** The edge refuses a request after this wait. The wait also slows clients that retry at once. */
  maxWaitMs: 500,
  /** Up to this many requests may wait for `mostWaitMs`: a process that has just started is slow. */
  few: 64,
  mostWaitMs: 1_500,
};

export type AdmissionLimits = typeof LIMITS;

/** How many times within `maxWaitMs` the edge looks for requests to refuse. */
const LOOKS = 10;
/** The most refusals at a time, because sending them takes time. */
const REFUSED_AT_ONCE = 256;
/**
 * A timer that is late by this much shows that the process stalled: waiting requests then get another chance.
 */
const LATE_LOOK_MS = 100;
/** The most sign-in steps of one network that wait in the preferred queue; further ones join the others. */
const MOST_FIRST = 16;
/** One in this many requests that begin is not a step of a sign-in, if any such request waits. */
const TURNS_IN_ROUND = 4;
/** Random, so that clients refused at the same time do not return together. */
const RETRY_AFTER_SECONDS = { least: 1, below: 4 };

/** More requests arrive than can be answered. */
export class Busy extends ServiceError {
  constructor() {
    super(ErrorCode.UNAVAILABLE, 'The service has too many requests to answer. Try again in a few seconds.', {
      retryAfterSeconds: randomInt(RETRY_AFTER_SECONDS.least, RETRY_AFTER_SECONDS.below),
    });
  }
}

export type End = () => void;

interface Waiting {
  since: number;
  settle: (mayBegin: boolean) => void;
}

/** Decides when requests begin, and refuses those that wait too long. */
export class Admission {
  readonly #limits: AdmissionLimits;
  /** Steps of a sign-in, for which a person waits. */
  readonly #first = new Lanes<Waiting>();
  readonly #others = new Lanes<Waiting>();
  /** When each began, in that order. */
  readonly #underWay = new Map<End, number>();
  #left: number;
  #turns = 0;
  readonly #countUntilNextTurn = inNextTurn(() => this.#beginTurn());
  #look: NodeJS.Timeout | undefined;
  #wasLate = false;

  constructor(
    private readonly onRefused: () => void = () => undefined,
    limits: Partial<AdmissionLimits> = {},
  ) {
    this.#limits = { ...LIMITS, ...limits };
    this.#left = this.#limits.perTurn;
  }

  /** Returns how to end the request, at once or when its turn comes. Rejects with Busy after a long wait. */
  begin(network: string, isFirst: boolean): End | Promise<End> {
    this.#countUntilNextTurn();
    if (this.#waiting === 0 && this.#hasRoom()) {
      return this.#begun();
    }
    return new Promise((resolve, reject) => {
      const settle = (mayBegin: boolean) => {
        if (mayBegin) {
          resolve(this.#begun());
        } else {
          this.onRefused();
          reject(new Busy());
        }
      };
      const lanes = isFirst && this.#first.waitingIn(network) < MOST_FIRST ? this.#first : this.#others;
      lanes.add(network, { since: performance.now(), settle });
      this.#lookAgain(this.#limits.maxWaitMs / LOOKS);
    });
  }

  get #waiting(): number {
    return this.#first.count + this.#others.count;
  }

  #begun(): End {
    const end = () => {
      if (this.#underWay.delete(end) && this.#waiting > 0) {
        this.#countUntilNextTurn();
      }
    };
    this.#left -= 1;
    this.#underWay.set(end, performance.now());
    return end;
  }

  #hasRoom(): boolean {
    const since = performance.now() - this.#limits.longMs;
    for (const [end, begunAt] of this.#underWay) {
      if (begunAt > since) {
        break;
      }
      this.#underWay.delete(end);
    }
    return this.#left > 0 && this.#underWay.size < this.#limits.atOnce;
  }

  #beginTurn(): void {
    this.#left = this.#limits.perTurn;
    while (this.#waiting > 0 && this.#hasRoom()) {
      this.#turns += 1;
      const isOthersTurn = this.#turns % TURNS_IN_ROUND === 0;
      const lanes =
        this.#others.count === 0 || (this.#first.count > 0 && !isOthersTurn) ? this.#first : this.#others;
      lanes.next()?.settle(true);
    }
    if (this.#waiting > 0 && this.#left <= 0) {
      this.#countUntilNextTurn();
    }
  }

  #lookAgain(inMs: number): void {
    const dueAt = performance.now() + inMs;
    this.#look ??= setTimeout(() => {
      this.#look = undefined;
      const isLate = performance.now() - dueAt > LATE_LOOK_MS;
      const refused = isLate && !this.#wasLate ? [] : this.#late();
      this.#wasLate = isLate;
      for (const { settle } of refused) {
        settle(false);
      }
      if (this.#waiting > 0) {
        this.#countUntilNextTurn();
        this.#lookAgain(refused.length < REFUSED_AT_ONCE ? this.#limits.maxWaitMs / LOOKS : 0);
      }
    }, inMs).unref();
  }

  #late() {
    const { maxWaitMs, mostWaitMs, few } = this.#limits;
    const now = performance.now();
    const waitsFor =
      (ms: number) =>
      ({ since }: Waiting) =>
        now - since >= ms;
    const late = [this.#others, this.#first].flatMap((lanes) =>
      lanes.takeHeads(waitsFor(mostWaitMs), REFUSED_AT_ONCE),
    );
    for (const lanes of [this.#others, this.#first]) {
      const most = Math.min(this.#waiting - few, REFUSED_AT_ONCE - late.length);
      late.push(...lanes.takeHeads(waitsFor(maxWaitMs), most));
    }
    return late;
  }
}
