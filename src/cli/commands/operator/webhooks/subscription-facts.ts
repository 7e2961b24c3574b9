import type { Subscription } from '../../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { printableLine } from '../../output/printable.js';
import { asTime, asWord } from '../../output/table.js';

const REASONS: Readonly<Record<string, string>> = {
  SUBSCRIPTION_DISABLED_REASON_OPERATOR: 'by an operator',
  SUBSCRIPTION_DISABLED_REASON_GONE: 'its address answered 410 Gone',
  SUBSCRIPTION_DISABLED_REASON_FAILING: 'nothing succeeded for too long',
  SUBSCRIPTION_DISABLED_REASON_UNCONFIGURED: 'its instance integration is not configured',
};

export function subscriptionFacts(
  subscription: Subscription,
  ...more: readonly [string, string][]
): [string, string | string[]][] {
  return [
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
  ];
}

export function statusWord({ status }: Subscription): string {
  return asWord(status, 'SUBSCRIPTION_STATUS_');
}

/** Why it receives nothing, as the command shows it. */
export function disabledBecause({ disabledReason }: Subscription): string {
  return REASONS[disabledReason] ?? asWord(disabledReason, 'SUBSCRIPTION_DISABLED_REASON_');
}

function statusOf(subscription: Subscription): string {
  const word = statusWord(subscription);
  return word === 'disabled'
    ? `${word} since ${asTime(subscription.disabledAt)}: ${disabledBecause(subscription)}`
    : word;
}
