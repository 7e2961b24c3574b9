import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
  log,
  patched,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { WebhookRetryActivities } from '../activities/webhook-retry.js';
import {
  type AttemptToMake,
  queryNames,
  type RetryCounts,
  type RetryState,
  signalNames,
  type WebhookRetryInput,
  type WebhookRetryLimits,
  type WebhookRetryProgress,
  webhookRetryLimits,
} from '../contract.js';
import { activitiesWith } from './activities.js';
import { describeRetries, plural } from './retry-details.js';
import { type DeliveryIds, RetryLedger } from './retry-ledger.js';

const progressQuery = defineQuery<WebhookRetryProgress>(queryNames.progress);
const retryNowSignal = defineSignal<[unknown?]>(signalNames.retryNow);
const giveUpSignal = defineSignal<[unknown?]>(signalNames.giveUp);

/** The patch with which `retryNow` asks how far the deliveries are. */
const ASKS_FIRST = 'retry-now-asks-first';
/** The patch with which a long run ends although an attempt asked for by a signal still waits. */
const ENDS_HURRIED = 'ends-long-history-of-hurried';
/** With this patch, a late answer to a round postpones only the attempts of that round. */
const PUTS_OFF_NEXT = 'puts-off-next-attempts-only';

/**
 * Makes second and third attempts of one subscription's failed deliveries due, each at its time. The relay
 * makes the attempts, and only the domain's counter permits them. An early end loses nothing, because the
 * relay claims each attempt at most a minute after its time.
 */
export async function webhookRetry(input: WebhookRetryInput): Promise<RetryCounts> {
  const retries = new Retries(input);
  await retries.plan();
  while (await retries.goOn()) {
    if (retries.isLong()) {
      return continueAsNew<typeof webhookRetry>({ ...input, carried: retries.carry() });
    }
  }
  await condition(allHandlersFinished);
  const counts = retries.counts();
  // A memo can be read without a worker, also in lists and after the end.
  upsertMemo({ ...counts });
  return counts;
}

type RetryActivities = ReturnType<typeof activitiesWith<WebhookRetryActivities>>;

class Retries {
  readonly #limits: WebhookRetryLimits;
  readonly #ledger: RetryLedger;
  readonly #steady: RetryActivities;
  /** For rounds of attempts, which are postponed after a few failures. */
  readonly #brief: RetryActivities;
  readonly #stepsBefore: number;
  /** Continues after a continue-as-new, so that an activity id names one step of the whole. */
  #steps: number;
  #isPlanned = false;

  constructor(private readonly input: WebhookRetryInput) {
    const { steps = 0, lastAttempts = {} } = input.carried ?? {};
    this.#limits = { ...webhookRetryLimits, ...input };
    const { stepTimeoutMs, roundTries } = this.#limits;
    this.#steady = activitiesWith(stepTimeoutMs, this.#limits);
    this.#brief = activitiesWith(stepTimeoutMs, { ...this.#limits, giveUpAfterAttempts: roundTries });
    this.#ledger = new RetryLedger(this.#limits, lastAttempts);
    this.#stepsBefore = steps;
    this.#steps = steps;
    this.#listen();
  }

  counts(): RetryCounts {
    return this.#ledger.counts();
  }

  async plan(): Promise<void> {
    this.#ledger.noteAll(await this.#ask(), Date.now());
    this.#isPlanned = true;
    this.#tell();
  }

  #ask(): Promise<RetryState[]> {
    const { batchId } = this.input;
    return this.#steady.planRetries.executeWithOptions(
      { activityId: `plan-${++this.#steps}`, summary: 'Asks how far the deliveries are' },
      [{ batchId }],
    );
  }

  /** Does what is due, or waits for it; false when nothing is left. */
  async goOn(): Promise<boolean> {
    const now = Date.now();
    const attempts = this.#ledger.attemptsDue(now);
    const wake = this.#ledger.nextWake();
    if (wake === undefined) {
      return false;
    }
    if (attempts.length > 0) {
      await this.#attempt(attempts);
    } else if (this.#ledger.isLookDue(now)) {
      await this.plan();
    } else {
      const { changes } = this.#ledger;
      const summary = `Until ${plural(wake.deliveries)} can be looked after`;
      await condition(() => this.#ledger.changes !== changes, Math.max(1, wake.at - now), { summary });
    }
    return true;
  }

  /**
   * Checked only between two waits. False while a step from a signal is left, which a new run would forget,
   * unless the history becomes too long.
   */
  isLong(): boolean {
    const { continueAsNewSuggested: isTooLong } = workflowInfo();
    const isLong = this.#steps - this.#stepsBefore >= this.#limits.stepsPerRun;
    const isIdle = this.#ledger.attemptsDue(Date.now()).length === 0 && allHandlersFinished();
    const mayForget = () => !this.#ledger.hasHurried || (isTooLong && patched(ENDS_HURRIED));
    return (isLong || isTooLong) && isIdle && mayForget();
  }

  carry(): NonNullable<WebhookRetryInput['carried']> {
    const made = this.#ledger.progress().filter(({ lastAttempt }) => lastAttempt !== null);
    const lastAttempts = Object.fromEntries(
      made.map((each) => [each.deliveryId, each.lastAttempt as string]),
    );
    return { steps: this.#steps, lastAttempts };
  }

  #listen(): void {
    setHandler(progressQuery, () => ({ counts: this.counts(), deliveries: this.#ledger.progress() }));
    setHandler(retryNowSignal, (deliveryIds) => this.#retryNow(idsOf(deliveryIds)), {
      description: 'Makes the next attempt now. Takes a list of delivery ids; without one, all are meant.',
    });
    setHandler(giveUpSignal, (deliveryIds) => this.#giveUp(idsOf(deliveryIds)), {
      description: 'Makes no further attempt. Takes a list of delivery ids; without one, all are meant.',
    });
  }

  async #retryNow(deliveryIds: DeliveryIds): Promise<void> {
    await condition(() => this.#isPlanned);
    if (patched(ASKS_FIRST)) {
      // An attempt that has ended unnoticed would use up the signal.
      const states = await this.#ask();
      this.#ledger.note(
        states.filter(({ isUnderWay }) => !isUnderWay),
        Date.now(),
      );
    }
    this.#ledger.hurry(deliveryIds, Date.now());
  }

  /** At once, even during a round: attempts that have not begun are not sent. */
  async #giveUp(deliveryIds: DeliveryIds): Promise<void> {
    await condition(() => this.#isPlanned);
    const open = this.#ledger.openAmong(deliveryIds);
    if (open.length === 0) {
      return;
    }
    const states = await this.#steady.giveUpDeliveries.executeWithOptions(
      { activityId: `give-up-${++this.#steps}`, summary: `Gives ${plural(open.length)} up` },
      [{ deliveryIds: open }],
    );
    this.#ledger.note(states, Date.now());
    this.#tell();
  }

  /** Open attempts are postponed and asked about again; so is a failed round. */
  async #attempt(attempts: AttemptToMake[]): Promise<void> {
    try {
      const { states, failed } = await this.#brief.attemptDeliveries.executeWithOptions(
        { activityId: `attempts-${++this.#steps}`, summary: inWords(attempts) },
        [{ subscriptionId: this.input.subscriptionId, attempts }],
      );
      this.#ledger.note(states, Date.now());
      this.#putOff(states.length === 0 ? attempts : failed);
    } catch (error) {
      if (isCancellation(error)) {
        throw error;
      }
      log.warn('a round of attempts failed', { attempts: attempts.length, error });
      this.#putOff(attempts);
    }
    this.#tell();
  }

  /** Leaves out attempts known to have begun during the round, as the answer to a signal may have shown. */
  #putOff(attempts: AttemptToMake[]): void {
    const next = attempts.filter((attempt) => this.#ledger.isNext(attempt));
    const isChanged = next.length < attempts.length && patched(PUTS_OFF_NEXT);
    this.#ledger.putOff(isChanged ? next : attempts, Date.now());
  }

  #tell(): void {
    setCurrentDetails(describeRetries(this.counts(), this.#ledger.progress()));
  }
}

/** Signals may come from people, and an unreadable one must not block the workflow. */
function idsOf(value: unknown): DeliveryIds {
  if (value === undefined || value === null) {
    return 'all';
  }
  const values = Array.isArray(value) ? value : [value];
  return values.length === 0 ? 'all' : values.filter((id) => typeof id === 'string');
}

/** `Makes attempt 2 of 11 deliveries and attempt 3 of 1 delivery` */
function inWords(attempts: readonly AttemptToMake[]): string {
  const numbers = [...new Set(attempts.map(({ attemptNumber }) => attemptNumber))].sort();
  const parts = numbers.map((number) => {
    const count = attempts.filter(({ attemptNumber }) => attemptNumber === number).length;
    return `attempt ${number} of ${plural(count)}`;
  });
  return `Makes ${parts.join(' and ')}`;
}
