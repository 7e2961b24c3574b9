import type { WriteOrigin } from '../../domain/unit-of-work.js';
import { CallerLeft, ErrorCode, ServiceError } from '../../errors/service-error.js';
import { OwnerSlots } from '../../fairness/owner-slots.js';
import type { Writer } from '../database.js';

/** How many of the writing connections may hold or wait for the lock of one subject. */
const AT_ONCE = 4;
const MOST_WAITING = 64;
const LONGEST_WAIT_MS = 3_000;
const RETRY_AFTER_SECONDS = 1;

/**
 * Queues writes by subject (an instance, client, account, key or network) without a connection: in the
 * database each would hold one while it waits, and one tenant could take them all.
 */
export class SubjectTurns {
  readonly #underWay: OwnerSlots;
  /** What begins each turn that is waited for. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(
    readonly longestWaitMs = LONGEST_WAIT_MS,
    atOnce = AT_ONCE,
  ) {
    this.#underWay = new OwnerSlots({ perOwner: atOnce });
  }

  tryTake(subject: string): boolean {
    return this.#underWay.take(subject);
  }

  /** Begins the turn that has waited longest, if any. */
  give(subject: string): void {
    const next = this.#waiting.get(subject)?.shift();
    if (next) {
      next();
      return;
    }
    this.#waiting.delete(subject);
    this.#underWay.give(subject);
  }

  async within<T>(subject: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    assertNotAborted(signal);
    await this.wait(subject, signal);
    try {
      return await work();
    } finally {
      this.give(subject);
    }
  }

  /** Resolves with the turn taken. */
  wait(subject: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.tryTake(subject)) {
      return Promise.resolve();
    }
    const waiting = this.#waiting.get(subject) ?? [];
    if (waiting.length >= MOST_WAITING) {
      return Promise.reject(tooMany());
    }
    this.#waiting.set(subject, waiting);
    return new Promise((resolve, reject) => {
      const leave = (reason: ServiceError) => {
        waiting.splice(waiting.indexOf(begin), 1);
        end();
        reject(reason);
      };
      const onAbort = () => leave(callerLeft());
      const timer = setTimeout(() => leave(waitedTooLong()), this.longestWaitMs);
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const begin = () => {
        end();
        resolve();
      };
      waiting.push(begin);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}

/** Ends a transaction that must wait for its turn and is then repeated. */
class TurnTaken extends Error {
  constructor(readonly subject: string) {
    super(`Other writes about ${subject} are under way.`);
  }
}

const turnTakers = new WeakMap<Writer, (subject: string) => void>();

/** Call it in a transaction before it locks the subject in the database. */
export function takeTurn(writer: Writer, subject: string): void {
  turnTakers.get(writer)?.(subject);
}

/**
 * Repeats a transaction until it has the turns of all its locks, which it learns on the way. It waits for one
 * turn while holding no other, which avoids deadlocks.
 */
export async function inTurns<T>(
  turns: SubjectTurns,
  { signal }: WriteOrigin,
  transact: (begun: (writer: Writer) => void) => Promise<T>,
): Promise<T> {
  const held = new Set<string>();
  /** Of the present try: a branch of an earlier try may go on after another branch has failed. */
  let present: Writer | undefined;
  const giveBack = () => {
    for (const subject of held) {
      turns.give(subject);
    }
    held.clear();
  };
  const take = (subject: string) => {
    if (!held.has(subject)) {
      if (!turns.tryTake(subject)) {
        throw new TurnTaken(subject);
      }
      held.add(subject);
    }
  };
  const givesUpAt = performance.now() + turns.longestWaitMs;
  try {
    for (;;) {
      assertNotAborted(signal);
      try {
        return await transact((writer) => {
          present = writer;
          turnTakers.set(writer, (subject) => {
            if (writer === present) {
              take(subject);
            }
          });
        });
      } catch (error) {
        present = undefined;
        if (!(error instanceof TurnTaken)) {
          throw error;
        }
        giveBack();
        assertNotAborted(signal);
        if (performance.now() > givesUpAt) {
          throw waitedTooLong();
        }
        await turns.wait(error.subject, signal);
        held.add(error.subject);
      }
    }
  } finally {
    present = undefined;
    giveBack();
  }
}

export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    throw callerLeft();
  }
}

export function callerLeft(): ServiceError {
  return new CallerLeft('The caller left before the change was made.');
}

export function tooMany(): ServiceError {
  return new ServiceError(
    ErrorCode.RATE_LIMITED,
    'Too many changes to the same data wait already. Make fewer at the same time, and try again in a moment.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

function waitedTooLong(): ServiceError {
  return new ServiceError(
    ErrorCode.UNAVAILABLE,
    'Other changes to the same data are under way. Try again in a moment.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
