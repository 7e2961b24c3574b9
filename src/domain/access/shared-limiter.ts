import type { RateLimit } from '../../errors/service-error.js';
import type { Clock } from '../clock.js';
import { type CallLimiter, type Rate, RateLimiter, RateWindows, type Taken } from './rate-limiter.js';
import {
  type Addition,
  type CountStore,
  type CountsListener,
  SharedCounts,
  type SharedWindow,
  type Total,
} from './shared-counts.js';

/** The part of a limit that a node may admit before the other nodes know of it. */
const SHARE = 1 / 20;

interface SharedLimit {
  /** Different for each limit. */
  name: string;
  rate: Rate;
  /** The database has the hash of a caller, so that it does not disclose who called. */
  hash(text: string): Buffer;
  /** Asks at the first call of a window too, so that its standing is that of all nodes soon. */
  asksFirst?: boolean;
}

/**
 * Counts over all nodes. A node admits its share at once and tells the other nodes when half of it is used;
 * beyond the share, a call waits for an exchange. So n nodes admit less than n shares beyond the limit.
 */
class SharedLimiter implements CallLimiter {
  readonly #windows: RateWindows<CallWindow>;

  constructor(limit: SharedLimit, counts: SharedCounts, clock: Clock) {
    const share = Math.max(1, Math.floor(limit.rate.limit * SHARE));
    const settings = { ...limit, share, counts, clock };
    this.#windows = new RateWindows(
      limit.rate,
      clock,
      (caller, startedAt): CallWindow => new CallWindow(caller, startedAt, this.#windows, settings),
    );
  }

  take(caller: string): Taken | Promise<Taken> {
    return this.#windows.of(caller).take();
  }

  standing(caller: string): RateLimit {
    return this.#windows.standingOf(caller);
  }
}

interface Settings extends SharedLimit {
  /** How many calls a node may admit before the other nodes know of them. */
  share: number;
  counts: SharedCounts;
  clock: Clock;
}

class CallWindow implements SharedWindow {
  /** Over all nodes, as far as known here. */
  used = 0;
  /** Of these, the calls of this node that no finished exchange has added. */
  #unshared = 0;
  #isAsked = false;
  readonly #waiting: ((taken: Taken | Promise<Taken>) => void)[] = [];
  /** What the exchange in progress adds: admitted calls, and the first of the waiting ones. */
  #exchanged = { admitted: 0, waiting: 0 };

  constructor(
    private readonly caller: string,
    public startedAt: number,
    private readonly windows: RateWindows<CallWindow>,
    private readonly settings: Settings,
  ) {}

  take(): Taken | Promise<Taken> {
    const { counts, share } = this.settings;
    if (this.#isFull()) {
      return this.#taken(false);
    }
    if (this.#unshared < share || counts.isAway) {
      this.#admit();
      this.#askIfDue();
      return this.#taken(true);
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      counts.exchangeSoon(this);
    });
  }

  beginExchange(): Addition | undefined {
    const { name, rate, hash, clock } = this.settings;
    if (!this.windows.isPresent(this.caller, this)) {
      // All at once they would exceed the limit of a window that is not exchanged again.
      for (const resolve of this.#waiting.splice(0)) {
        resolve(this.windows.of(this.caller).take());
      }
      return undefined;
    }
    this.#exchanged = { admitted: this.#unshared, waiting: this.#waiting.length };
    return {
      subject: hash(JSON.stringify(['calls', name, this.caller])).toString('base64url'),
      added: this.#unshared + this.#waiting.length,
      ageMs: clock() - this.startedAt,
      windowMs: rate.windowMs,
    };
  }

  endExchange(total: Total | undefined): void {
    const { admitted, waiting } = this.#exchanged;
    this.#exchanged = { admitted: 0, waiting: 0 };
    if (!total) {
      this.decideAlone();
      return;
    }
    this.startedAt = this.settings.clock() - total.ageMs;
    this.#unshared -= admitted;
    // The waiting calls are counted already; those that the limit refuses fill a window that is full.
    const before = total.used - waiting + this.#unshared;
    const granted = Math.min(waiting, Math.max(0, this.settings.rate.limit - before));
    this.used = before + granted;
    for (const [index, resolve] of this.#waiting.splice(0, waiting).entries()) {
      resolve(this.#taken(index < granted));
    }
  }

  decideAlone(): void {
    const { waiting } = this.#exchanged;
    this.#exchanged.waiting = 0;
    for (const [index, resolve] of this.#waiting.splice(0).entries()) {
      const allowed = this.used < this.settings.rate.limit;
      if (allowed) {
        this.#admit();
        // The exchange in progress adds the first of them already.
        this.#exchanged.admitted += index < waiting ? 1 : 0;
      }
      resolve(this.#taken(allowed));
    }
  }

  #isFull(): boolean {
    return this.used + this.#waiting.length >= this.settings.rate.limit;
  }

  #admit(): void {
    this.used += 1;
    this.#unshared += 1;
  }

  #askIfDue(): void {
    const { share, counts, asksFirst = false } = this.settings;
    const isFirst = asksFirst && !this.#isAsked;
    if (isFirst || this.#unshared - this.#exchanged.admitted >= share / 2) {
      this.#isAsked = true;
      counts.exchangeSoon(this);
    }
  }

  #taken(allowed: boolean): Taken {
    return { allowed, ...this.windows.standing(this) };
  }
}

interface LimiterSettings {
  /** Undefined for a node that is alone. */
  store: CountStore | undefined;
  clock: Clock;
  hash: SharedLimit['hash'];
  listener: CountsListener;
  /** After this time without an answer of the database, a node decides alone. */
  lateMs?: number;
}

type NewLimiter = (name: string, rate: Rate, options?: Pick<SharedLimit, 'asksFirst'>) => CallLimiter;

/** Makes limiters that count over all nodes, or in memory where there is one node. */
export function limitersOver({ store, clock, hash, listener, lateMs }: LimiterSettings): NewLimiter {
  if (!store) {
    return (_, rate) => new RateLimiter(rate, clock);
  }
  const counts = new SharedCounts(store, clock, listener, lateMs);
  return (name, rate, options) => new SharedLimiter({ name, rate, hash, ...options }, counts, clock);
}
