import type { AttemptToMake, RetryState, RoundOutcome } from '../contract.js';
import { type DomainCall, domainCall } from './domain-call.js';

/** The domain's calls for retries, all repeatable. */
export interface RetryingDomain {
  /** The deliveries of the batch; none if it was purged. */
  retryBatch(batchId: string, call: DomainCall): Promise<RetryState[]>;
  /** Makes attempts due, so that the relay makes them. Omits purged deliveries. */
  makeDue(attempts: AttemptToMake[], call: DomainCall): Promise<RetryState[]>;
  giveUp(deliveryIds: string[], call: DomainCall): Promise<RetryState[]>;
}

export type WebhookRetryActivities = ReturnType<typeof webhookRetryActivities>;

/** Does not wait for receivers: the workflow asks again. */
export function webhookRetryActivities(domain: RetryingDomain) {
  return {
    /** The progress of each delivery of the batch; omits those that left it. */
    planRetries: ({ batchId }: { batchId: string }) => domain.retryBatch(batchId, domainCall()),
    attemptDeliveries: ({ attempts }: { subscriptionId: string; attempts: AttemptToMake[] }) =>
      attemptRound(attempts, domain, domainCall()),
    giveUpDeliveries: ({ deliveryIds }: { deliveryIds: string[] }) =>
      domain.giveUp(deliveryIds, domainCall()),
  };
}

/** Makes attempts due, so that the relay makes them, and returns the ended and the open ones. */
export async function attemptRound(
  attempts: AttemptToMake[],
  domain: RetryingDomain,
  call: DomainCall,
): Promise<RoundOutcome> {
  const outcome: RoundOutcome = { states: [], failed: [] };
  const states = await domain.makeDue(attempts, call);
  const found = new Map(states.map((state) => [state.deliveryId, state]));
  for (const attempt of attempts) {
    const state = found.get(attempt.deliveryId) ?? goneState(attempt);
    const { status, attemptsBegun, isUnderWay } = state;
    const hasNotEnded = attemptsBegun === attempt.attemptNumber && isUnderWay;
    if (status === 'PENDING' && (attemptsBegun < attempt.attemptNumber || hasNotEnded)) {
      outcome.failed.push(attempt);
    } else {
      outcome.states.push(state);
    }
  }
  return outcome;
}

/** There is nothing left to do for it. */
function goneState({ deliveryId, attemptNumber }: AttemptToMake): RetryState {
  const ended = { nextAttemptAt: null, lastAttempt: null, waitMs: 0, isUnderWay: false };
  return { deliveryId, status: 'GONE', attemptsBegun: attemptNumber - 1, ...ended };
}
