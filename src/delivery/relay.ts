import { randomUUID } from 'node:crypto';
import type {
  ClaimDeliveriesRequest,
  ClaimDeliveriesResponse,
  ClaimedDelivery,
  DeliveryServiceService,
} from '../../generated/proto/integration/webhooks/v1/sending.js';
import type { RpcClient } from '../rpc/client.js';
import type { Log } from '../telemetry/log.js';
import type { SendBody, Sender, SendTarget } from './attempt.js';
import { AttemptRecorder, reasonOf } from './attempt-recorder.js';
import { attemptResultOf } from './attempt-result.js';
import { pause, pauseMsAfter } from './pauses.js';
import { Slots } from './slots.js';

export interface DeliveryClient extends Pick<RpcClient<typeof DeliveryServiceService>, 'recordAttempts'> {
  /** One claim at a time. */
  claimDeliveries(
    request: ClaimDeliveriesRequest,
    call: { deadlineMs: number; signal?: AbortSignal },
  ): Promise<ClaimDeliveriesResponse>;
}

export interface RelayOptions {
  deliveries: DeliveryClient;
  sender: Sender;
  log: Log;
  /** Says in each claim whose it is. */
  workerId: string;
  /** How many attempts may be under way or not yet recorded. */
  sends: number;
  /** Of those, to one subscription. */
  sendsPerSubscription: number;
}

/** How long the domain may wait for something that is due, and how long we wait for the domain. */
const CLAIM_WAIT_MS = 10_000;
const CLAIM_DEADLINE_MS = 15_000;
/** A claim on its way as we stop has mostly begun attempts already, which would be lost; one that waits has not. */
const LAST_CLAIM_MS = 250;
/** At the end of the grace, to record what was cut off. */
const LAST_RECORD_MS = 1_000;
/** With more due than could be taken, a claim for a few slots costs the domain as much as one for many; for these it waits, but not long: others may hang. */
const WORTHWHILE_PART = 0.25;
const WORTHWHILE_WITHIN_MS = 10;
const BEGUN_AT_ONCE = 32;
/** Nothing due should take longer to say; a domain that is about to end says it at once. */
const SHORT_ANSWER_MS = 20;

/** Makes the first attempts: claims no more than it can send at once, sends, and tells how it ended. */
export class Relay {
  readonly #slots: Slots;
  readonly #recorder: AttemptRecorder;
  readonly #stop = new AbortController();
  readonly #giveUpClaim = new AbortController();
  readonly #interrupt = new AbortController();
  readonly #claiming: Promise<void>;
  #failures = 0;
  /** Whether the last claim filled every slot that it was for. */
  #isBehind = false;

  constructor(private readonly options: RelayOptions) {
    const { deliveries, log, sends } = options;
    this.#slots = new Slots(sends);
    this.#recorder = new AttemptRecorder({
      record: (results) => deliveries.recordAttempts({ results }, { requestId: requestId() }),
      onSettled: (count) => this.#slots.give(count),
      log,
    });
    this.#claiming = this.#claimUntilStopped();
  }

  /** No new attempts; those under way end, are cut off at the end of the grace, and are recorded. */
  async stop(graceMs: number): Promise<void> {
    this.#stop.abort();
    const over = new AbortController();
    const timers = [
      setTimeout(
        () => this.#giveUpClaim.abort(new Error('the relay stops')),
        Math.min(LAST_CLAIM_MS, graceMs),
      ),
      setTimeout(() => this.#interrupt.abort(), Math.max(0, graceMs - LAST_RECORD_MS)),
      setTimeout(() => over.abort(), graceMs),
    ];
    await this.#claiming;
    await this.#slots.untilFree(this.#slots.total, over.signal);
    timers.forEach(clearTimeout);
    this.#recorder.stop();
  }

  async #claimUntilStopped(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#slots.untilFree(1, signal);
      if (this.#isBehind) {
        await this.#untilWorthwhile();
      }
      if (!signal.aborted) {
        await this.#claim();
      }
    }
  }

  async #untilWorthwhile(): Promise<void> {
    const over = new AbortController();
    const end = () => over.abort();
    const timer = setTimeout(end, WORTHWHILE_WITHIN_MS);
    this.#stop.signal.addEventListener('abort', end, { once: true });
    await this.#slots.untilFree(Math.ceil(this.#slots.total * WORTHWHILE_PART), over.signal);
    clearTimeout(timer);
    this.#stop.signal.removeEventListener('abort', end);
  }

  async #claim(): Promise<void> {
    const { deliveries, workerId, sendsPerSubscription, log } = this.options;
    const asked = performance.now();
    const freeSlots = this.#slots.free;
    this.#isBehind = false;
    try {
      const claimed = await deliveries.claimDeliveries(
        {
          workerId,
          freeSlots,
          totalSlots: this.#slots.total,
          maxRunningPerSubscription: sendsPerSubscription,
          maxWaitMs: CLAIM_WAIT_MS,
        },
        { deadlineMs: CLAIM_DEADLINE_MS, signal: this.#giveUpClaim.signal },
      );
      if (this.#failures > 0) {
        log.info('webhook deliveries are claimed again', { failures: this.#failures });
      }
      this.#failures = 0;
      this.#isBehind = claimed.deliveries.length === freeSlots;
      void this.#begin(claimed);
      if (claimed.deliveries.length === 0 && performance.now() - asked < SHORT_ANSWER_MS) {
        await pause(SHORT_ANSWER_MS, this.#stop.signal);
      }
    } catch (error) {
      await this.#noteFailure(error);
    }
  }

  async #noteFailure(error: unknown): Promise<void> {
    if (this.#stop.signal.aborted) {
      return;
    }
    this.#failures += 1;
    const level = this.#failures === 1 ? 'warn' : 'debug';
    this.options.log[level]('webhook deliveries are not claimed for now', { reason: reasonOf(error) });
    await pause(pauseMsAfter(this.#failures), this.#stop.signal);
  }

  /** In turns of the event loop, so that the first answers are heard, and told of, before the last attempt has begun. */
  async #begin({ deliveries, targets, bodies }: ClaimDeliveriesResponse): Promise<void> {
    this.#slots.take(deliveries.length);
    for (const [index, delivery] of deliveries.entries()) {
      if (index > 0 && index % BEGUN_AT_ONCE === 0) {
        await new Promise(setImmediate);
      }
      const target = targets[delivery.targetIndex];
      const body = bodies[delivery.bodyIndex];
      if (target && body) {
        void this.#attempt(delivery, target, body);
      } else {
        this.#lose(delivery, new Error('the claim names no target or body'));
      }
    }
  }

  async #attempt(delivery: ClaimedDelivery, target: SendTarget, body: SendBody): Promise<void> {
    try {
      const report = await this.options.sender.attempt(target, body, this.#interrupt.signal);
      this.#recorder.add({
        result: attemptResultOf(delivery.deliveryId, 1, report),
        leaseExpiresAt: delivery.leaseExpiresAt ?? new Date(),
      });
    } catch (error) {
      this.#lose(delivery, error);
    }
  }

  /** Its lease lapses, and the domain records the attempt as interrupted. */
  #lose({ deliveryId }: ClaimedDelivery, error: unknown): void {
    this.options.log.error('a webhook attempt was lost', { deliveryId, reason: reasonOf(error) });
    this.#slots.give(1);
  }
}

function requestId(): string {
  return `relay/${randomUUID()}`;
}
