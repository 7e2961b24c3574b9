import {
  type Delivery as DeliveryMessage,
  DeliveryOrigin as OriginMessage,
  DeliveryStatus as StatusMessage,
} from '../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import {
  SubscriptionDisabledReason as ReasonMessage,
  type Subscription as SubscriptionMessage,
  SubscriptionStatus as SubscriptionStatusMessage,
} from '../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import {
  type Delivery,
  type DeliveryOrigin,
  type DeliveryStatus,
  retryWorkflowIdOf,
} from '../../../domain/webhooks/deliveries.js';
import type { ManagedSubscription } from '../../../domain/webhooks/subscriptions/rows.js';
import type {
  DisabledReason,
  SubscriptionStatus,
} from '../../../domain/webhooks/subscriptions/subscription.js';
import { fromEnum, toDate } from '../operator/messages.js';

const SUBSCRIPTION_STATUSES: Record<SubscriptionStatus, SubscriptionStatusMessage> = {
  ACTIVE: SubscriptionStatusMessage.ACTIVE,
  DISABLED: SubscriptionStatusMessage.DISABLED,
};
const REASONS: Record<DisabledReason, ReasonMessage> = {
  OPERATOR: ReasonMessage.OPERATOR,
  GONE: ReasonMessage.GONE,
  FAILING: ReasonMessage.FAILING,
  UNCONFIGURED: ReasonMessage.UNCONFIGURED,
};
const STATUSES: Record<DeliveryStatus, StatusMessage> = {
  PENDING: StatusMessage.PENDING,
  DELIVERED: StatusMessage.DELIVERED,
  EXHAUSTED: StatusMessage.EXHAUSTED,
  HELD: StatusMessage.HELD,
  CANCELLED: StatusMessage.CANCELLED,
};
const ORIGINS: Record<DeliveryOrigin, OriginMessage> = {
  EVENT: OriginMessage.EVENT,
  RESEND: OriginMessage.RESEND,
  REPLAY: OriginMessage.REPLAY,
  TEST: OriginMessage.TEST,
};

export const fromSubscriptionStatus = fromEnum(SUBSCRIPTION_STATUSES);
export const fromDeliveryStatus = fromEnum(STATUSES);

export function toSubscriptionMessage(subscription: ManagedSubscription): SubscriptionMessage {
  const { id, instanceIntegrationId, url, description, status, disabledReason, version } = subscription;
  return {
    id,
    instanceIntegrationId,
    url,
    eventTypes: [...subscription.eventTypes],
    clientIds: [...subscription.clientIds],
    description,
    status: SUBSCRIPTION_STATUSES[status],
    disabledReason: disabledReason === null ? ReasonMessage.UNSPECIFIED : REASONS[disabledReason],
    disabledAt: toDate(subscription.disabledAt),
    secrets: subscription.secrets.map((secret) => ({
      id: secret.id,
      createdAt: new Date(secret.createdAt),
      expiresAt: toDate(secret.expiresAt),
    })),
    lastSuccessAt: toDate(subscription.lastSuccessAt),
    failingSince: toDate(subscription.failingSince),
    createdAt: new Date(subscription.createdAt),
    updatedAt: new Date(subscription.updatedAt),
    version,
  };
}

export function toDeliveryStatus(status: DeliveryStatus): StatusMessage {
  return STATUSES[status];
}

export function toDeliveryMessage(delivery: Delivery): DeliveryMessage {
  const { id, subscriptionId, instanceIntegrationId, eventId, eventType, retryBatchId } = delivery;
  return {
    id,
    subscriptionId,
    instanceIntegrationId,
    eventId,
    eventType,
    origin: ORIGINS[delivery.origin],
    status: toDeliveryStatus(delivery.status),
    attemptsBegun: delivery.attemptsBegun,
    nextAttemptAt: nextAttemptAt(delivery),
    retryWorkflowId: retryBatchId === null ? undefined : retryWorkflowIdOf(subscriptionId, retryBatchId),
    createdAt: new Date(delivery.createdAt),
    endedAt: toDate(delivery.endedAt),
  };
}

/** The first attempt is due at once; a running one has no next time. */
function nextAttemptAt(delivery: Delivery): Date | undefined {
  const isNew = delivery.status === 'PENDING' && delivery.attemptsBegun === 0;
  return isNew ? new Date(delivery.createdAt) : toDate(delivery.nextAttemptAt);
}
