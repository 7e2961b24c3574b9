import {
  type Subscription,
  SubscriptionStatus,
} from '../../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { asTime } from '../../output/table.js';
import { UsageError } from '../../usage-error.js';
import { listed, shownList } from '../listing.js';
import { withSecret } from '../secret.js';
import type { Action } from '../session.js';
import { shownSubscription, statusWord, subscriptionFacts } from './subscription-facts.js';

const STATUSES = {
  active: SubscriptionStatus.ACTIVE,
  disabled: SubscriptionStatus.DISABLED,
};

export interface CreateOptions {
  instanceIntegration: string;
  url: string;
  events: readonly string[];
  clients?: readonly string[];
  description?: string;
}

export const create: Action<CreateOptions> = async (
  { webhooks, call },
  _,
  { instanceIntegration, url, events, clients = [], description = '' },
) => {
  const answer = await webhooks.createSubscription(
    {
      instanceIntegrationId: instanceIntegration,
      url,
      eventTypes: [...events],
      clientIds: [...clients],
      description,
    },
    call,
  );
  const facts = subscriptionFacts(answer.subscription as Subscription);
  return { json: answer, text: withSecret(facts, 'The signing secret', answer.secret) };
};

export const list: Action<{
  instanceIntegration?: string;
  status?: keyof typeof STATUSES;
  limit?: number;
}> = async ({ webhooks, call }, _, { instanceIntegration, status, limit }) => {
  const filter = {
    instanceIntegrationId: instanceIntegration,
    status: status ? STATUSES[status] : SubscriptionStatus.UNSPECIFIED,
  };
  const found = await listed(limit, 'subscriptions', (page) =>
    webhooks.listSubscriptions({ ...filter, ...page }, call),
  );
  return shownList(
    found,
    ['subscription', 'connection', 'status', 'events', 'address', 'last success', 'failing since'],
    (subscription) => [
      subscription.id,
      subscription.instanceIntegrationId,
      statusWord(subscription.status),
      subscription.eventTypes.join(' '),
      subscription.url,
      asTime(subscription.lastSuccessAt, 'never'),
      asTime(subscription.failingSince),
    ],
  );
};

export const show: Action = async ({ webhooks, call }, [subscriptionId = '']) => {
  const answer = await webhooks.getSubscription({ subscriptionId }, call);
  const text = subscriptionFacts(
    answer.subscription as Subscription,
    ['Pending', String(answer.pendingDeliveries)],
    ['Held', String(answer.heldDeliveries)],
  );
  return { json: answer, text };
};

export interface UpdateOptions {
  url?: string;
  events?: readonly string[];
  clients?: readonly string[];
  allClients?: boolean;
  description?: string;
  expectedVersion?: string;
}

export const update: Action<UpdateOptions> = async ({ webhooks, call }, [subscriptionId = ''], options) => {
  const { url, events, clients, allClients, description, expectedVersion } = options;
  const given: Record<string, boolean> = {
    url: url !== undefined,
    event_types: events !== undefined,
    client_ids: clients !== undefined || allClients === true,
    description: description !== undefined,
  };
  const updateMask = Object.keys(given).filter((name) => given[name]);
  if (updateMask.length === 0) {
    throw new UsageError('Say what to change; --help lists what can be.');
  }
  const eventTypes = [...(events ?? [])];
  const clientIds = [...(clients ?? [])];
  const request = { subscriptionId, url, eventTypes, clientIds, description, updateMask, expectedVersion };
  return shownSubscription(await webhooks.updateSubscription(request, call));
};
