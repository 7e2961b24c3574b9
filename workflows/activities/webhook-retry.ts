import type { AttemptToMake, RetryState, RoundOutcome } from '../contract.js';
import { attemptRound } from './attempt-round.js';
import { domainCall } from './domain-call.js';
import type { RetryingDomain } from './retry-ports.js';
import { stateOf } from './retry-state.js';

export interface WebhookRetryActivities {
  /** The progress of each delivery of the batch; omits those that left it. */
  planRetries(request: { batchId: string }): Promise<RetryState[]>;
  /** Makes attempts due, and returns the progress of ended ones. */
  attemptDeliveries(request: { subscriptionId: string; attempts: AttemptToMake[] }): Promise<RoundOutcome>;
  giveUpDeliveries(request: { deliveryIds: string[] }): Promise<RetryState[]>;
}

/** Does not wait for receivers: the workflow asks again. */
export function createWebhookRetryActivities(domain: RetryingDomain): WebhookRetryActivities {
  return {
    async planRetries({ batchId }) {
      return (await domain.retryBatch(batchId, domainCall())).map(stateOf);
    },
    async giveUpDeliveries({ deliveryIds }) {
      return (await domain.giveUp(deliveryIds, domainCall())).map(stateOf);
    },
    attemptDeliveries: ({ attempts }) => attemptRound(attempts, domain, domainCall()),
  };
}
