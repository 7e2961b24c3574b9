import type {
  AttemptToMake,
  RetryCounts,
  RetryProgress,
  RetryState,
  WebhookRetryLimits,
} from '../contract.js';

type Settings = Pick<
  WebhookRetryLimits,
  'gatherShare' | 'gatherLeastMs' | 'leastWaitMs' | 'mostWaitMs' | 'putOffMs'
>;

export type DeliveryIds = readonly string[] | 'all';

/** Make the next attempt, look at the progress of another worker, or nothing. */
type Step = 'attempt' | 'look' | 'none';

interface Entry {
  progress: RetryProgress;
  step: Step;
  dueAt: number;
  /** The step may wait until then, to be made together with those of other deliveries. */
  gatherUntil: number;
  /** Consecutive looks. */
  looks: number;
  timesPutOff: number;
  /** Whether a signal asked for this step at once. */
  isHurried: boolean;
}

const FIRST_RETRY = 2;
const LAST_RETRY = 3;

/** The state of the deliveries and their next steps. It reads no clock: the caller passes the time. */
export class RetryLedger {
  readonly #entries = new Map<string, Entry>();
  #changes = 0;

  constructor(
    private readonly settings: Settings,
    private readonly lastAttempts: Record<string, string> = {},
  ) {}

  /** Increases with every change, which ends a wait. */
  get changes(): number {
    return this.#changes;
  }

  /** Notes the progress of these deliveries, including new ones. */
  note(states: readonly RetryState[], now: number): void {
    for (const state of states) {
      this.#entries.set(state.deliveryId, this.#entryOf(state, now));
    }
    this.#changes++;
  }

  /** Notes the progress of all deliveries: missing ones have left the batch. */
  noteAll(states: readonly RetryState[], now: number): void {
    const listed = new Set(states.map(({ deliveryId }) => deliveryId));
    for (const [id, { progress, step }] of this.#entries) {
      if (!listed.has(id) && step !== 'none') {
        this.note([{ ...progress, status: 'GONE', nextAttemptAt: null, waitMs: 0, isUnderWay: false }], now);
      }
    }
    this.note(states, now);
  }

  /** Makes the next attempts of these deliveries due now. */
  hurry(deliveryIds: DeliveryIds, now: number): void {
    for (const entry of this.#among(deliveryIds)) {
      if (entry.step !== 'attempt') {
        continue;
      }
      Object.assign(entry, { dueAt: now, gatherUntil: now, isHurried: true });
    }
    this.#changes++;
  }

  /** Postpones attempts that could not be made, longer each time. */
  putOff(attempts: readonly AttemptToMake[], now: number): void {
    const { putOffMs, mostWaitMs } = this.settings;
    for (const { deliveryId } of attempts) {
      const entry = this.#entries.get(deliveryId);
      if (!entry) {
        continue;
      }
      const dueAt = now + Math.min(mostWaitMs, putOffMs * 2 ** entry.timesPutOff);
      Object.assign(entry, { dueAt, gatherUntil: dueAt, timesPutOff: entry.timesPutOff + 1 });
    }
    this.#changes++;
  }

  /** Whether this is the next attempt of the delivery, as far as is known. */
  isNext({ deliveryId, attemptNumber }: AttemptToMake): boolean {
    return this.#entries.get(deliveryId)?.progress.attemptsBegun === attemptNumber - 1;
  }

  openAmong(deliveryIds: DeliveryIds): string[] {
    return this.#among(deliveryIds).map(({ progress }) => progress.deliveryId);
  }

  attemptsDue(now: number): AttemptToMake[] {
    return this.#due('attempt', now).map(({ progress: { deliveryId, attemptsBegun }, isHurried }) => ({
      deliveryId,
      attemptNumber: attemptsBegun + 1,
      bySignal: isHurried,
    }));
  }

  /** Whether a signal asked for an attempt that has not been made: it may have been put off. */
  get hasHurried(): boolean {
    return this.#among('all').some(({ isHurried }) => isHurried);
  }

  isLookDue(now: number): boolean {
    return this.#due('look', now).length > 0;
  }

  /** When the next step is due, and for how many deliveries; undefined when nothing is open. */
  nextWake(): { at: number; deliveries: number } | undefined {
    const open = this.#among('all');
    if (open.length === 0) {
      return undefined;
    }
    const latest = Math.min(...open.map(({ gatherUntil }) => gatherUntil));
    const gathered = open.filter(({ dueAt }) => dueAt <= latest);
    return { at: Math.max(...gathered.map(({ dueAt }) => dueAt)), deliveries: gathered.length };
  }

  progress(): RetryProgress[] {
    return [...this.#entries.values()].map(({ progress }) => progress);
  }

  counts(): RetryCounts {
    const all = this.progress();
    const count = (wanted: RetryProgress['status']) => all.filter(({ status }) => status === wanted).length;
    return {
      deliveries: all.length,
      delivered: count('DELIVERED'),
      exhausted: count('EXHAUSTED'),
      held: count('HELD'),
      cancelled: count('CANCELLED'),
      gone: count('GONE'),
    };
  }

  #due(step: Step, now: number): Entry[] {
    return this.#among('all').filter((entry) => entry.step === step && entry.dueAt <= now);
  }

  #among(deliveryIds: DeliveryIds): Entry[] {
    const entries =
      deliveryIds === 'all'
        ? [...this.#entries.values()]
        : [...new Set(deliveryIds)].flatMap((id) => this.#entries.get(id) ?? []);
    return entries.filter(({ step }) => step !== 'none');
  }

  #entryOf(state: RetryState, now: number): Entry {
    const { waitMs, isUnderWay, ...progress } = state;
    const known = this.#entries.get(progress.deliveryId);
    if (known && isOvertaken(progress.status, known.progress.status)) {
      return known;
    }
    progress.lastAttempt ??= known?.progress.lastAttempt ?? this.lastAttempts[progress.deliveryId] ?? null;
    const step = stepOf(progress, isUnderWay);
    const looks = step === 'look' ? (known?.looks ?? 0) + 1 : 0;
    const dueAt = now + waitMs + this.#restMs(looks);
    const { gatherLeastMs, gatherShare } = this.settings;
    const gatherUntil = dueAt + Math.max(gatherLeastMs, gatherShare * waitMs);
    const isSame = known?.step === step && known.progress.attemptsBegun === progress.attemptsBegun;
    if (isSame && known.isHurried) {
      return { ...known, progress };
    }
    return { progress, step, dueAt, gatherUntil, looks, timesPutOff: 0, isHurried: false };
  }

  #restMs(looks: number): number {
    const { leastWaitMs, mostWaitMs } = this.settings;
    return looks === 0 ? 0 : Math.min(mostWaitMs, leastWaitMs * 2 ** (looks - 1));
  }
}

/** Answers may arrive out of order: PENDING replaces no other status, and nothing replaces DELIVERED. */
function isOvertaken(told: RetryProgress['status'], known: RetryProgress['status']): boolean {
  return known === 'DELIVERED' || (told === 'PENDING' && known !== 'PENDING');
}

/** The first attempt needs no workflow, and the third is the last. */
function stepOf({ status, attemptsBegun }: RetryProgress, isUnderWay: boolean): Step {
  // A running attempt cannot undo a success.
  if (status === 'DELIVERED') {
    return 'none';
  }
  if (isUnderWay) {
    return 'look';
  }
  if (status !== 'PENDING') {
    return 'none';
  }
  const next = attemptsBegun + 1;
  return next < FIRST_RETRY || next > LAST_RETRY ? 'look' : 'attempt';
}
