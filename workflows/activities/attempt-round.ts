import { setTimeout as sleep } from 'node:timers/promises';
import type { AttemptToMake, RetryState, RoundOutcome } from '../contract.js';
import type { DomainCall } from './domain-call.js';
import {
  type AttemptReport,
  ResultRefused,
  type RetriedDelivery,
  type RetryDependencies,
} from './retry-ports.js';
import { goneState, outcomeInWords, stateOf } from './retry-state.js';
import type { SendSlots } from './send-slots.js';

export interface RoundOptions extends RetryDependencies {
  slots: SendSlots;
  subscriptionId: string;
  call: DomainCall;
  /** False when it is time to leave what is left to a later round. */
  mayBegin: () => boolean;
  /** Aborted: attempts under way are cut off. */
  cut: AbortSignal;
}

const recordAgainAfterMs = 100;
const recordAgainAfterMostMs = 2_000;

/**
 * Makes the attempts, as many at once as there are send slots, and tells how far each delivery is then. One that the
 * domain fails at holds up no other; only when nothing else was achieved, the round fails with that.
 */
export async function attemptRound(attempts: AttemptToMake[], options: RoundOptions): Promise<RoundOutcome> {
  const { slots, subscriptionId, mayBegin } = options;
  const outcome: RoundOutcome = { states: [], failed: [] };
  const failures: unknown[] = [];
  const running = new Set<Promise<void>>();
  const begin = (attempt: AttemptToMake) => {
    const ended = makeAttempt(attempt, options)
      .then((state) => void outcome.states.push(state))
      .catch((failure) => {
        failures.push(failure);
        outcome.failed.push(attempt);
      })
      .finally(() => {
        slots.give(subscriptionId);
        running.delete(ended);
      });
    running.add(ended);
  };

  for (const attempt of attempts) {
    let isFree = slots.tryTake(subscriptionId);
    while (!isFree && running.size > 0) {
      await Promise.race(running);
      isFree = slots.tryTake(subscriptionId);
    }
    isFree ||= await slots.take(subscriptionId);
    if (!isFree) break;
    if (!mayBegin()) {
      slots.give(subscriptionId);
      break;
    }
    begin(attempt);
  }
  await Promise.all(running);
  if (failures.length > 0 && outcome.states.length === 0) throw failures[0];
  return outcome;
}

async function makeAttempt(attempt: AttemptToMake, options: RoundOptions): Promise<RetryState> {
  const { domain, sender, call, cut } = options;
  const beginning = await domain.beginAttempt(attempt, call);
  if ('refused' in beginning) {
    const { delivery, isLeaseRunning } = beginning.refused;
    return delivery ? stateOf(delivery, { isLeaseRunning }) : goneState(attempt.deliveryId, 0);
  }
  const { target, body, leaseExpiresAt } = beginning.begun;
  const report = await sender.attempt(target, body, cut);
  const delivery = await record(attempt, report, leaseExpiresAt, options);
  const lastAttempt = outcomeInWords(report);
  return delivery ? stateOf(delivery, { lastAttempt }) : goneState(attempt.deliveryId, attempt.attemptNumber);
}

/**
 * Tries for as long as the domain is away: a success that is told late still counts, and one that is not told is sent again. The slot stays taken, so that
 * no worker holds more results than it has slots. A result that the domain refuses, or a worker that ends, gives up when the lease is over: the
 * domain counts the attempt as interrupted, and the counter refuses to begin it again.
 */
async function record(
  attempt: AttemptToMake,
  report: AttemptReport,
  leaseExpiresAt: Date,
  { domain, call, ending }: RoundOptions,
): Promise<RetriedDelivery | undefined> {
  for (let waitMs = recordAgainAfterMs; ; waitMs = Math.min(2 * waitMs, recordAgainAfterMostMs)) {
    try {
      return await domain.recordAttempt(attempt, report, call);
    } catch (error) {
      const mayGiveUp = error instanceof ResultRefused || ending.aborted;
      if (mayGiveUp && Date.now() + waitMs > leaseExpiresAt.getTime()) throw error;
      await sleep(waitMs);
    }
  }
}
