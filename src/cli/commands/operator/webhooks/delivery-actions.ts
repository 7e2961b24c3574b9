import {
  type Delivery,
  DeliveryStatus,
} from '../../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { confirmation } from '../../confirm.js';
import { asTime } from '../../output/table.js';
import { listed, shownList } from '../listing.js';
import type { Action } from '../session.js';
import { attemptsOf, deliveryFacts, deliveryReport, statusWord } from './delivery-facts.js';

const STATUSES = {
  pending: DeliveryStatus.PENDING,
  delivered: DeliveryStatus.DELIVERED,
  exhausted: DeliveryStatus.EXHAUSTED,
  held: DeliveryStatus.HELD,
  cancelled: DeliveryStatus.CANCELLED,
};

export interface DeliveryFilter {
  subscription?: string;
  instanceIntegration?: string;
  event?: string;
  types?: readonly string[];
  status?: readonly (keyof typeof STATUSES)[];
  since?: Date;
  until?: Date;
  limit: number;
}

export const list: Action<DeliveryFilter> = async (
  { webhooks, call },
  _,
  { subscription, instanceIntegration, event, types = [], status = [], since, until, limit },
) => {
  const filter = {
    subscriptionId: subscription,
    instanceIntegrationId: instanceIntegration,
    eventId: event,
    eventTypes: [...types],
    statuses: status.map((name) => STATUSES[name]),
    since,
    until,
  };
  const found = await listed(limit, 'deliveries', (page) =>
    webhooks.listDeliveries({ ...filter, ...page }, call),
  );
  return shownList(
    found,
    ['delivery', 'type', 'subscription', 'status', 'attempts', 'next attempt', 'created'],
    (delivery) => [
      delivery.id,
      delivery.eventType,
      delivery.subscriptionId,
      statusWord(delivery.status),
      attemptsOf(delivery),
      asTime(delivery.nextAttemptAt),
      asTime(delivery.createdAt),
    ],
  );
};

export const show: Action = async ({ webhooks, call, temporalUiUrl }, [deliveryId = '']) => {
  const answer = await webhooks.getDelivery({ deliveryId }, call);
  return { json: answer, text: deliveryReport(answer, temporalUiUrl) };
};

export const retry: Action = async ({ webhooks, call }, [deliveryId = '']) => {
  const answer = await webhooks.retryDelivery({ deliveryId }, call);
  const next = `The next attempt is due. How it goes: \`integration delivery show ${deliveryId}\`.`;
  return { json: answer, text: `${deliveryFacts(answer.delivery as Delivery)}\n\n${next}` };
};

export const giveUp: Action<{ yes?: boolean }> = async ({ webhooks, call }, [deliveryId = ''], options) => {
  const confirm = confirmation(options);
  await confirm(`End ${deliveryId} without further attempts?`);
  const answer = await webhooks.giveUpDelivery({ deliveryId }, call);
  return { json: answer, text: deliveryFacts(answer.delivery as Delivery) };
};

export const resend: Action = async ({ webhooks, call }, [deliveryId = '']) => {
  const answer = await webhooks.resendDelivery({ deliveryId }, call);
  const delivery = answer.delivery as Delivery;
  const next = `It is on its way. How it goes: \`integration delivery show ${delivery.id}\`.`;
  return { json: answer, text: `${deliveryFacts(delivery)}\n\n${next}` };
};
