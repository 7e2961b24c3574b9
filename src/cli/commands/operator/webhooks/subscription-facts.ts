import {
  type Subscription,
  type SubscriptionDisabledReason,
  SubscriptionStatus,
} from '../../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { printableLine } from '../../output/printable.js';
import { asFacts, asTime, asWord } from '../../output/table.js';
import type { Shown } from '../session.js';

const REASONS: Partial<Record<SubscriptionDisabledReason, string>> = {
  SUBSCRIPTION_DISABLED_REASON_OPERATOR: 'by an operator',
  SUBSCRIPTION_DISABLED_REASON_GONE: 'its address answered 410 Gone',
  SUBSCRIPTION_DISABLED_REASON_FAILING: 'nothing succeeded for too long',
  SUBSCRIPTION_DISABLED_REASON_UNCONFIGURED: 'its instance integration is not configured',
};

export function shownSubscription(
  answer: { subscription?: Subscription | undefined },
  ...remarks: readonly string[]
): Shown {
  const text = [subscriptionFacts(answer.subscription as Subscription), ...remarks].join('\n\n');
  return { json: answer, text };
}

export function subscriptionFacts(
  subscription: Subscription,
  ...more: readonly (readonly [string, string])[]
): string {
  return asFacts([
    ['Subscription', subscription.id],
    ['Connection', subscription.instanceIntegrationId],
    ['Address', subscription.url],
    ['Events', subscription.eventTypes.join(' ')],
    ['Clients', subscription.clientIds.length === 0 ? 'all' : subscription.clientIds],
    ['Description', printableLine(subscription.description) || '-'],
    ['Status', statusOf(subscription)],
    ['Secrets', subscription.secrets.map(({ id, expiresAt }) => `${id} ends ${asTime(expiresAt, 'never')}`)],
    ['Last success', asTime(subscription.lastSuccessAt, 'never')],
    ['Failing since', asTime(subscription.failingSince)],
    ...more,
    ['Created', asTime(subscription.createdAt)],
    ['Changed', asTime(subscription.updatedAt)],
    ['Version', subscription.version],
  ]);
}

export function statusWord(status: SubscriptionStatus): string {
  return asWord(status, 'SUBSCRIPTION_STATUS_');
}

/** Why it receives nothing, as the command shows it. */
export function disabledBecause({ disabledReason }: Subscription): string {
  return REASONS[disabledReason] ?? asWord(disabledReason, 'SUBSCRIPTION_DISABLED_REASON_');
}

function statusOf(subscription: Subscription): string {
  const word = statusWord(subscription.status);
  return subscription.status === SubscriptionStatus.DISABLED
    ? `${word} since ${asTime(subscription.disabledAt)}: ${disabledBecause(subscription)}`
    : word;
}
