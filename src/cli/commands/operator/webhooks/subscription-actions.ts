import type {
  EnableSubscriptionResponse,
  Subscription,
  SubscriptionStatus,
} from '../../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { confirmation } from '../../confirm.js';
import { printableLine } from '../../output/printable.js';
import { asEnum, asFacts, asTime, asWord } from '../../output/table.js';
import type { Action } from '../session.js';
import { showing, shownOnce, shownPages, updateMaskOf } from '../showing.js';

const shown = showing('subscription', (subscription: Subscription) => subscriptionFacts(subscription));

interface SubscriptionOptions {
  url?: string;
  events?: string[];
  clients?: string[];
  allClients?: boolean;
  description?: string;
}

export const create: Action<SubscriptionOptions & { instanceIntegration: string; url: string }> = async (
  { webhooks },
  _,
  { instanceIntegration, url, events = [], clients = [], description = '' },
) => {
  const filter = { instanceIntegrationId: instanceIntegration, eventTypes: events, clientIds: clients };
  const answer = await webhooks.createSubscription({ ...filter, url, description });
  return shown(answer, shownOnce('The signing secret', answer.secret));
};

export const list: Action<{ status?: string }> = async (
  { operator, webhooks },
  _,
  { instanceIntegration: instanceIntegrationId, status, limit },
) => {
  const filter = {
    instanceIntegrationId,
    status: asEnum<SubscriptionStatus>(status, 'SUBSCRIPTION_STATUS_'),
  };
  return shownPages(
    limit,
    'subscriptions',
    (page) => webhooks.listSubscriptions({ ...filter, ...page }),
    {
      subscription: (subscription) => subscription.id,
      connection: (subscription) => subscription.instanceIntegrationId,
      status: statusWord,
      events: (subscription) => subscription.eventTypes.join(' '),
      address: (subscription) => subscription.url,
      'last success': (subscription) => asTime(subscription.lastSuccessAt, 'never'),
      'failing since': (subscription) => asTime(subscription.failingSince),
    },
    () => instanceIntegrationId && operator.getInstanceIntegration({ instanceIntegrationId }),
  );
};

export const show: Action = async ({ webhooks }, [subscriptionId]) => {
  const answer = await webhooks.getSubscription({ subscriptionId });
  const facts = subscriptionFacts(
    answer.subscription as Subscription,
    ['Pending', String(answer.pendingDeliveries)],
    ['Held', String(answer.heldDeliveries)],
  );
  return { json: answer, text: asFacts(facts) };
};

export const update: Action<SubscriptionOptions> = async (
  { webhooks },
  [subscriptionId],
  { url, events, clients, allClients, description, expectedVersion },
) => {
  const clientIds = allClients ? [] : clients;
  const updateMask = updateMaskOf({ url, eventTypes: events, clientIds, description });
  const lists = { eventTypes: events ?? [], clientIds: clientIds ?? [] };
  const request = { subscriptionId, url, ...lists, description, updateMask, expectedVersion };
  return shown(await webhooks.updateSubscription(request));
};

export const enable: Action = async ({ webhooks }, [subscriptionId], { expectedVersion }) => {
  const answer = await webhooks.enableSubscription({ subscriptionId, expectedVersion });
  return shown(answer, missed(subscriptionId, answer));
};

export const disable: Action = async ({ webhooks }, [subscriptionId], { expectedVersion }) => {
  const answer = await webhooks.disableSubscription({ subscriptionId, expectedVersion });
  const held = `Pending deliveries that are held from now on: ${answer.heldDeliveries}.`;
  return shown(answer, `${held} What happens meanwhile is held, too, and can be replayed.`);
};

export const remove: Action = async ({ webhooks }, [subscriptionId], { yes, expectedVersion }) => {
  const confirm = confirmation({ yes });
  if (!yes) {
    const answer = await webhooks.getSubscription({ subscriptionId });
    const open = `${answer.pendingDeliveries} pending and ${answer.heldDeliveries} held deliveries`;
    await confirm(`Delete the subscription of ${answer.subscription?.url}, and cancel ${open}?`);
  }
  const answer = await webhooks.deleteSubscription({ subscriptionId, expectedVersion });
  const text = `Deleted. Deliveries that were cancelled with it: ${answer.cancelledDeliveries}.`;
  return { json: answer, text };
};

export const rotateSecret: Action = async ({ webhooks }, [subscriptionId], { overlap, yes }) => {
  if (overlap === 0) {
    const confirm = confirmation({ yes });
    await confirm(`End every present secret of ${subscriptionId} at once, before the new one is in place?`);
  }
  const answer = await webhooks.rotateSubscriptionSecret({ subscriptionId, overlapSeconds: overlap });
  return shown(answer, shownOnce('The new signing secret', answer.secret));
};

/** Includes the command that replays the held deliveries. */
function missed(subscriptionId: string, { heldDeliveries, heldSince }: EnableSubscriptionResponse): string {
  if (heldDeliveries === 0) {
    return 'It missed nothing.';
  }
  const since = heldSince ? ` --since ${heldSince.toISOString()}` : '';
  return [
    `Deliveries that were held meanwhile: ${heldDeliveries}. They stay held until they are replayed:`,
    `  integration event replay --subscription ${subscriptionId}${since}`,
  ].join('\n\n');
}

const REASONS: Readonly<Record<string, string>> = {
  SUBSCRIPTION_DISABLED_REASON_OPERATOR: 'by an operator',
  SUBSCRIPTION_DISABLED_REASON_GONE: 'its address answered 410 Gone',
  SUBSCRIPTION_DISABLED_REASON_FAILING: 'nothing succeeded for too long',
  SUBSCRIPTION_DISABLED_REASON_UNCONFIGURED: 'its instance integration is not configured',
};

function subscriptionFacts(
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
    ['Last success', lastSuccessOf(subscription)],
    ['Failing since', asTime(subscription.failingSince)],
    ...more,
    ['Created', asTime(subscription.createdAt)],
    ['Changed', asTime(subscription.updatedAt)],
    ['Version', subscription.version],
  ];
}

/** The service notes it once a minute. */
function lastSuccessOf({ lastSuccessAt }: Subscription): string {
  return lastSuccessAt ? `${asTime(lastSuccessAt)}, or up to a minute later` : 'never';
}

function statusWord({ status }: Subscription): string {
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
