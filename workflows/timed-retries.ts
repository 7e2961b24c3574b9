import { randomUUID } from 'node:crypto';
import { attemptRound } from './activities/attempt-round.js';
import type { DomainCall } from './activities/domain-call.js';
import type { RetryDependencies } from './activities/retry-ports.js';
import { stateOf } from './activities/retry-state.js';
import { SendSlots } from './activities/send-slots.js';
import { type BackoffSettings, backoffDelayMs, pause } from './backoff.js';
import { defaultWebhookRetryLimits } from './contract.js';
import { RetryLedger } from './definitions/retry-ledger.js';
import type { Log } from './log.js';
import { reasonOf } from './reason.js';
import { handOverRetryBatches, type RetryBatchOptions } from './retry-batches.js';
import type { RetryBatch } from './start-retry.js';

export interface TimedRetryOptions {
  retries: RetryDependencies;
  list: RetryBatchOptions['list'];
  log: Log;
  /** Batches that wait here for their time; what is more waits in the domain. */
  most?: number;
  backoff?: BackoffSettings;
}

/** A batch until nothing in it is open. How far its deliveries are is asked before each round, so that this is all there is to remember. */
interface WaitingBatch extends Pick<RetryBatch, 'batchId' | 'subscriptionId'> {
  dueAt: number;
  failures: number;
}

const mostBatches = 20_000;
/** As many as a worker under Temporal has; most of them wait for receivers. */
const roundsAtOnce = 400;
const lookEveryMs = 100;
/** For attempts that are cut off to be recorded. */
const recordWithinMs = 1_000;
/** Nobody cancels these calls: an attempt that has begun is recorded. */
const uncancelled = new AbortController().signal;

/**
 * Makes second and third attempts in this process, where there is no Temporal to do it. The same counter decides and the same rounds attempt, so
 * others may retry the same batches at the same time. What a process takes with it when it ends, the domain lists again as overdue.
 */
export function startTimedRetries(options: TimedRetryOptions): { stop(graceMs: number): Promise<void> } {
  const { list, log, retries } = options;
  const timed = new TimedRetries(options);
  const start = (batch: RetryBatch) => timed.add(batch);
  const running = Promise.all([handOverRetryBatches({ list, start, log }, retries.ending), timed.run()]);
  return {
    stop: async (graceMs) => {
      await running;
      await timed.end(graceMs);
    },
  };
}

class TimedRetries {
  readonly #waiting = new Map<string, WaitingBatch>();
  readonly #rounds = new Map<string, Promise<void>>();
  readonly #slots: SendSlots;
  readonly #cut = new AbortController();
  readonly #backoff: BackoffSettings;

  constructor(private readonly options: TimedRetryOptions) {
    this.#slots = new SendSlots(options.retries.sends);
    this.#backoff = options.backoff ?? { firstDelayMs: 1_000, maxDelayMs: 30_000 };
  }

  get #ending(): AbortSignal {
    return this.options.retries.ending;
  }

  /** Waits while there are as many as may be. */
  async add({ batchId, subscriptionId }: RetryBatch): Promise<void> {
    const { most = mostBatches } = this.options;
    while (this.#waiting.size >= most && !this.#waiting.has(batchId)) {
      await pause(lookEveryMs, this.#ending);
      this.#ending.throwIfAborted();
    }
    if (!this.#waiting.has(batchId)) {
      this.#waiting.set(batchId, { batchId, subscriptionId, dueAt: Date.now(), failures: 0 });
    }
  }

  /** Begins what is due, until the process begins to end. */
  async run(): Promise<void> {
    while (!this.#ending.aborted) {
      const now = Date.now();
      for (const batch of this.#waiting.values()) {
        if (this.#rounds.size >= roundsAtOnce) break;
        if (batch.dueAt <= now && !this.#rounds.has(batch.batchId)) this.#begin(batch);
      }
      await pause(lookEveryMs, this.#ending);
    }
  }

  /** Lets attempts under way end within the grace; others have not begun, and are the next worker's. */
  async end(graceMs: number): Promise<void> {
    const lastMs = Math.min(graceMs, recordWithinMs);
    await this.#settled(graceMs - lastMs);
    this.#cut.abort();
    await this.#settled(lastMs);
  }

  async #settled(withinMs: number): Promise<void> {
    const timer = new AbortController();
    await Promise.race([Promise.all(this.#rounds.values()), pause(withinMs, timer.signal)]);
    timer.abort();
  }

  /** Its next turn is behind all others: where receivers hang, the batches to them are due again and again. */
  #begin(batch: WaitingBatch): void {
    this.#waiting.delete(batch.batchId);
    this.#waiting.set(batch.batchId, batch);
    const round = this.#round(batch)
      .catch((error) => this.#postpone(batch, error))
      .finally(() => this.#rounds.delete(batch.batchId));
    this.#rounds.set(batch.batchId, round);
  }

  async #round(batch: WaitingBatch): Promise<void> {
    const { domain } = this.options.retries;
    const requestId = `timed-retries/${batch.batchId}/${randomUUID()}`;
    const ledger = new RetryLedger(defaultWebhookRetryLimits);
    const deliveries = await domain.retryBatch(batch.batchId, { requestId, signal: this.#ending });
    ledger.note(
      deliveries.map((delivery) => stateOf(delivery)),
      Date.now(),
    );
    await this.#attempt(batch, ledger, { requestId, signal: uncancelled });
    const wake = ledger.nextWake();
    if (wake) Object.assign(batch, { dueAt: wake.at, failures: 0 });
    else this.#waiting.delete(batch.batchId);
  }

  async #attempt({ subscriptionId }: WaitingBatch, ledger: RetryLedger, call: DomainCall): Promise<void> {
    const attempts = ledger.attemptsDue(Date.now());
    if (attempts.length === 0) return;
    const beginUntil = Date.now() + defaultWebhookRetryLimits.beginForMs;
    const { states, failed } = await attemptRound(attempts, {
      ...this.options.retries,
      slots: this.#slots,
      subscriptionId,
      call,
      mayBegin: () => !this.#ending.aborted && Date.now() < beginUntil,
      cut: this.#cut.signal,
    });
    ledger.note(states, Date.now());
    ledger.putOff(states.length === 0 ? attempts : failed, Date.now());
  }

  #postpone(batch: WaitingBatch, error: unknown): void {
    if (this.#ending.aborted) return;
    const failures = batch.failures + 1;
    const { subscriptionId, batchId } = batch;
    const level = failures === 1 ? 'warn' : 'debug';
    const fields = { subscriptionId, batchId, reason: reasonOf(error) };
    this.options.log[level]('webhook retries of a batch are put off', fields);
    Object.assign(batch, { failures, dueAt: Date.now() + backoffDelayMs(failures, this.#backoff) });
  }
}
