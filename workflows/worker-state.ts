type WorkerStatus = 'connecting' | 'polling' | 'disconnected';

export interface WorkerState {
  status: WorkerStatus;
  /** Why it is disconnected, or cannot do all its work, as a sentence for people. */
  reason?: string;
  since: Date;
  /** Since when its schedules may not run. Undefined while it has them and its polls are accepted. */
  awaySince?: Date;
}

/** The worker ended although the server answers, which may refuse its polls. */
export class WorkerEnded extends Error {}

/** After this long, the server accepts the polls: the SDK ends a worker whose polls are refused for 60 s. */
const PROVEN_AFTER_MS = 90_000;

/** What the sessions of a worker, one after another, tell of it. */
export class WorkerStanding {
  #state: WorkerState = { status: 'connecting', since: new Date(), awaySince: new Date() };
  #failures = 0;
  #pollsSince: number | undefined;
  /** Why the worker ended, until a session has shown that it can poll. */
  #doubt: string | undefined;

  constructor(private readonly onChange: (state: WorkerState) => void) {}

  get state(): WorkerState {
    return this.#state;
  }

  /** Sessions in a row that failed. */
  get failures(): number {
    return this.#failures;
  }

  /** The present session polls. `lack` says why it cannot do all its work. */
  polls(lack: string | undefined, hasSchedules: boolean): void {
    const now = performance.now();
    this.#pollsSince ??= now;
    if (now - this.#pollsSince >= PROVEN_AFTER_MS) {
      this.#doubt = undefined;
    }
    if (this.#doubt === undefined) {
      this.#failures = 0;
    }
    this.#become('polling', this.#doubt ?? lack, !hasSchedules || this.#doubt !== undefined);
  }

  /** The present session has ended, or none could begin. */
  lost(reason: string, error?: unknown): void {
    this.#failures += 1;
    this.#pollsSince = undefined;
    if (error instanceof WorkerEnded) {
      this.#doubt = reason;
    }
    this.#become('disconnected', reason, true);
  }

  #become(status: WorkerStatus, reason: string | undefined, isAway: boolean): void {
    if (this.#state.status === status && this.#state.reason === reason) {
      return;
    }
    // The reasons for which it is away may alternate.
    const { awaySince = new Date() } = this.#state;
    this.#state = { status, since: new Date(), ...(reason && { reason }), ...(isAway && { awaySince }) };
    this.onChange(this.#state);
  }
}
