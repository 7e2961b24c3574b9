import {
  type DeliveryAttempt as AttemptMessage,
  type Delivery as DeliveryMessage,
  DeliveryOrigin,
  DeliveryStatus,
  AttemptOutcome as Outcome,
} from '../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import {
  SubscriptionDisabledReason as Reason,
  type Subscription as SubscriptionMessage,
  SubscriptionStatus,
} from '../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import {
  type Delivery,
  type DeliveryAttempt,
  retryWorkflowIdOf,
} from '../../../domain/webhooks/deliveries.js';
import type { RunningAttempt } from '../../../domain/webhooks/logs/deliveries.js';
import type { ManagedSubscription } from '../../../domain/webhooks/subscriptions/rows.js';
import type { Sent } from '../../handlers.js';
import { fromEnum } from '../fields.js';

export const fromSubscriptionStatus = fromEnum(SubscriptionStatus);
export const fromDeliveryStatus = fromEnum(DeliveryStatus);

export function toSubscriptionMessage(subscription: ManagedSubscription): Sent<SubscriptionMessage> {
  const { status, disabledReason } = subscription;
  return {
    ...subscription,
    status: SubscriptionStatus[status],
    disabledReason: Reason[disabledReason ?? 'UNSPECIFIED'],
  };
}

export function toDeliveryMessage(delivery: Delivery): Sent<DeliveryMessage> {
  const { subscriptionId, origin, status, retryBatchId } = delivery;
  return {
    ...delivery,
    origin: DeliveryOrigin[origin],
    status: DeliveryStatus[status],
    nextAttemptAt: nextAttemptAt(delivery),
    retryWorkflowId: retryBatchId && retryWorkflowIdOf(subscriptionId, retryBatchId),
  };
}

/** The first attempt is due at once; a running one has no next time. */
function nextAttemptAt({ status, attemptsBegun, createdAt, nextAttemptAt }: Delivery): number | null {
  return status === 'PENDING' && attemptsBegun === 0 ? createdAt : nextAttemptAt;
}

export function toAttemptMessage(attempt: DeliveryAttempt | RunningAttempt): Sent<AttemptMessage> {
  const { message, responseStart } = { message: null, responseStart: null, ...attempt };
  return {
    ...attempt,
    outcome: Outcome[attempt.outcome ?? 'UNSPECIFIED'],
    message: message ?? '',
    responseStart: Buffer.from(responseStart ?? []),
  };
}
