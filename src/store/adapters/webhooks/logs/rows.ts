import type { Delivery, DeliveryAttempt } from '../../../../domain/webhooks/deliveries.js';
import { camelCased, type Tables } from '../../../camel-case.js';
import type { Writer } from '../../../database.js';

/** With its place in the log. */
export type PlacedDelivery = Delivery & { seq: number };

type Ids = Pick<Delivery, 'id' | 'subscriptionId' | 'instanceIntegrationId' | 'eventId'>;

/** Deliveries with fields of their subscription, which outlives them. */
export function deliveriesIn(db: Writer) {
  return camelCased(db)
    .selectFrom('deliveries')
    .innerJoin('subscriptions', 'subscriptions.id', 'deliveries.subscriptionId')
    .selectAll('deliveries')
    .select('subscriptions.instanceIntegrationId')
    .$narrowType<Ids>();
}

export function toAttempt(row: Tables['deliveryAttempts']): DeliveryAttempt {
  const { deliverySeq: _, responseStart, ...attempt } = row;
  return { ...attempt, responseStart: responseStart === null ? null : Buffer.from(responseStart, 'base64') };
}
