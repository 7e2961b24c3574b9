import type { SubscriptionId } from '../../../../generated/ids.js';

/**
 * Subscriptions with new due deliveries; undefined if they are unknown or too many. Only a hint: a claim
 * looks at these first, and checks everything itself.
 */
export type NewlyDue = ReadonlySet<SubscriptionId> | undefined;

export const NONE_DUE: NewlyDue = new Set();

/** As many fit into a notification of PostgreSQL (8,000 bytes), and a claim looks at no more. */
const MOST_NAMED = 256;

export function bothDue(one: NewlyDue, other: NewlyDue): NewlyDue {
  if (one === undefined || other === undefined) {
    return undefined;
  }
  const all = new Set([...one, ...other]);
  return all.size > MOST_NAMED ? undefined : all;
}

export function isAnyDue(due: NewlyDue): boolean {
  return due === undefined || due.size > 0;
}

/** Each wake ends the wait of one claim, so that the others need not look. */
export class DueSignal {
  readonly #waiting = new Set<() => void>();
  /**
   * Claims that may not use their free slots for what is due. A wake reaches one only if no other claim
   * waits; the end of attempts wakes all of them.
   */
  readonly #unsuited = new Set<() => void>();
  readonly #closing = new AbortController();
  #countHere = 0;
  #countElsewhere = 0;
  #isNotified = false;
  /** What the wakes since the last look have named. */
  #newlyDue: NewlyDue = NONE_DUE;

  /** `notifyNodes` is called when no claim waits here for what is due. */
  constructor(private readonly notifyNodes: (due: NewlyDue) => void = () => undefined) {}

  /** Aborted when the domain stops, which ends all waits. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Counts wakes: read it before a look, so that none during the look is missed. */
  get count(): number {
    return this.#countHere + this.#countElsewhere;
  }

  /** Counts wakes by this node, whose commit may be still to come. */
  get countHere(): number {
    return this.#countHere;
  }

  /** Whether other nodes wake this one. */
  get isNotified(): boolean {
    return this.#isNotified;
  }

  /** Whether a claim waits on this node that may have what is due. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /** Called when a write would see the due delivery; on SQLite its commit is still to come. */
  wake(due?: NewlyDue, areNodesNotified = false): void {
    this.#countHere += 1;
    if (!this.#wakeFirst(due) && !areNodesNotified) {
      this.notifyNodes(due);
    }
  }

  /** Called when another node says that it has committed a due delivery for which no claim waits there. */
  wakeByOther(due?: NewlyDue): void {
    this.#countElsewhere += 1;
    this.#wakeFirst(due);
  }

  /** Called when attempts have ended: these claims may have room now, or their callers more slots. */
  wakeUnsuited(): void {
    for (const end of [...this.#unsuited]) {
      end();
    }
  }

  /**
   * Gives the wake to a waiting claim, or to other nodes. Called by a claim that may not use its slots for
   * what it was woken for. Not counted as a wake, so that claims that are looking now, as the caller, do not
   * look again.
   */
  passOn(): void {
    const [first] = this.#waiting;
    if (first) {
      first();
    } else {
      this.notifyNodes(undefined);
    }
  }

  /** What the wakes since the last call were for. Call it before a look. */
  takeNewlyDue(): NewlyDue {
    const due = this.#newlyDue;
    this.#newlyDue = NONE_DUE;
    return due;
  }

  /** Called when other nodes begin or cease to wake this one. */
  setNotified(isNotified: boolean): void {
    this.#isNotified = isNotified;
    if (isNotified) {
      // Other nodes may have committed deliveries before the notifications began.
      this.wakeByOther();
    }
  }

  /** Resolves on a wake since `count`, at the time limit, or when the caller or the domain ends. */
  async news(count: number, timeoutMs: number, caller: AbortSignal, isUnsuited = false): Promise<void> {
    if (count !== this.count || caller.aborted || this.closing.aborted || timeoutMs <= 0) {
      return;
    }
    const waiting = isUnsuited ? this.#unsuited : this.#waiting;
    await new Promise<void>((resolve) => {
      const end = () => {
        waiting.delete(end);
        clearTimeout(timer);
        caller.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, timeoutMs);
      caller.addEventListener('abort', end);
      waiting.add(end);
    });
  }

  close(): void {
    this.#closing.abort();
    for (const end of [...this.#waiting, ...this.#unsuited]) {
      end();
    }
  }

  #wakeFirst(due: NewlyDue): boolean {
    this.#newlyDue = bothDue(this.#newlyDue, due);
    const [first] = this.#waiting;
    const [unsuited] = this.#unsuited;
    (first ?? unsuited)?.();
    return first !== undefined;
  }
}
