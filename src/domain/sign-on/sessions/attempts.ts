/** A turn in the queue for an account. */
export interface Turn {
  /** When the attempt may be made; not later than now means at once. */
  at: number;
  /** The number of attempts in a row; 0 for one that was counted before and waited. */
  count: number;
}

/**
 * Counts of attempts. One statement counts before the attempt, so concurrent ones cannot pass a limit.
 * A window that ends later than one that begins now began before the clock was set back: it is over.
 */
export interface AttemptRows {
  /** Adds one, in a new window if the last one is over. */
  count(subject: string, now: number, windowMs: number): Promise<{ count: number; endsAt: number }>;
  /** Takes one back that was no guess, unless its window is over. */
  giveBack(subject: string, endsAt: number): Promise<void>;
  /** The same for a turn; later turns have moved the end of its window. */
  giveBackTurn(subject: string, now: number): Promise<void>;
  forget(subject: string): Promise<void>;
  /** One conditional statement: takes the next free turn by `spacing`. Undefined beyond `maxWaitMs`. */
  takeTurn(subject: string, now: number, spacing: TurnSpacing): Promise<Turn | undefined>;
  /** The turn that the holder waits for, if any. */
  waitingFor(holder: string, now: number): Promise<number | undefined>;
  keepTurn(holder: string, at: number, endsAt: number): Promise<void>;
  /** One conditional statement: of concurrent uses of a due turn, one returns true. */
  useTurn(holder: string, now: number): Promise<boolean>;
}

export interface TurnSpacing {
  /** Attempts without a wait. */
  free: number;
  /** By how much each further wait grows. */
  stepMs: number;
  maxSpacingMs: number;
  maxWaitMs: number;
  /** After this time without an attempt the count restarts. */
  windowMs: number;
}
