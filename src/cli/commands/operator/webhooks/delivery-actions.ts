import {
  type Delivery,
  DeliveryStatus,
} from '../../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { asTime } from '../../output/table.js';
import { listed, shownList } from '../listing.js';
import type { Session, Shown } from '../session.js';
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

export async function list(
  { webhooks, call }: Session,
  _: readonly string[],
  { subscription, instanceIntegration, event, types = [], status = [], since, until, limit }: DeliveryFilter,
): Promise<Shown> {
  const filter = {
    subscriptionId: subscription,
    instanceIntegrationId: instanceIntegration,
    eventId: event,
    eventTypes: [...types],
    statuses: status.map((name) => STATUSES[name]),
    since,
    until,
  };
  const found = await listed(limit, async (page) => {
    const { deliveries, nextPageToken } = await webhooks.listDeliveries({ ...filter, ...page }, call);
    return { rows: deliveries, nextPageToken };
  });
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
}

export async function show(
  { webhooks, call }: Session,
  [deliveryId = '']: readonly string[],
): Promise<Shown> {
  const answer = await webhooks.getDelivery({ deliveryId }, call);
  return { json: answer, text: deliveryReport(answer) };
}

export async function resend(
  { webhooks, call }: Session,
  [deliveryId = '']: readonly string[],
): Promise<Shown> {
  const answer = await webhooks.resendDelivery({ deliveryId }, call);
  const delivery = answer.delivery as Delivery;
  const next = `It is on its way. How it goes: \`integration delivery show ${delivery.id}\`.`;
  return { json: answer, text: `${deliveryFacts(delivery)}\n\n${next}` };
}
