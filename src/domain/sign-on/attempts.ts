/** A row of those who wait for their turn at an account. */
export interface Turn {
  /** When the try may be made; the present, or earlier, is at once. */
  at: number;
  /** How many tries in a row this is; 0 for one that was counted before and waited. */
  count: number;
}

/** How often something was tried, counted by one statement before the try is made, so that many at once cannot pass a limit together. */
export interface AttemptRows {
  /** Counts one more, in a new window if the last one is over. */
  count(subject: string, now: number, windowMs: number): Promise<{ count: number; endsAt: number }>;
  /** Takes one back that turned out to be no guess, unless its window is over: the next one counts others. */
  giveBack(subject: string, endsAt: number): Promise<void>;
  /** The same for one that took a turn; those taken since have moved the end of its window. */
  giveBackTurn(subject: string, now: number): Promise<void>;
  forget(subject: string): Promise<void>;
  /**
   * One conditional statement: takes the next free turn at the subject, each later than the one before by what the domain says of so many tries. Undefined when that is
   * further away than `maxWaitMs`.
   */
  takeTurn(subject: string, now: number, spacing: TurnSpacing): Promise<Turn | undefined>;
  /** The turn that the holder waits for, if there is one. */
  waitingFor(holder: string, now: number): Promise<number | undefined>;
  keepTurn(holder: string, at: number, endsAt: number): Promise<void>;
  /** One conditional statement: of several who use a turn that has come, one hears yes. */
  useTurn(holder: string, now: number): Promise<boolean>;
}

export interface TurnSpacing {
  /** So many tries in a row are made at once. */
  free: number;
  /** Each one after that is so much later than the one before than that was. */
  stepMs: number;
  maxSpacingMs: number;
  maxWaitMs: number;
  /** After so long without a try, all begins anew. */
  windowMs: number;
}
