import type { EventType } from '../../../../generated/asyncapi/events.js';
import { exampleEvents } from '../../../../generated/asyncapi/examples.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import type { OperatorChanges } from '../../operator/unit-of-work.js';
import { RECEIVER } from '../../platform/unit-of-work.js';
import { invalidRequest } from '../../platform/violations.js';
import { auditChange } from '../../unit-of-work.js';
import type { Delivery } from '../deliveries.js';
import type { StoredEvent } from '../event-body.js';
import { matchesAny } from '../event-patterns.js';
import { lockedReceiver, newDelivery } from './rows.js';
import { EVENT_TYPES } from './rules.js';
import type { Subscription } from './subscription.js';

const RECEIVER_IN_SAMPLE = /(?<=^\/v\d\/instance-integrations\/)\w+/;

/** Sends the sample of the contract as a test event to this subscription only. */
export async function testSubscription(
  changes: OperatorChanges,
  { subscriptionId, eventType }: { subscriptionId: string; eventType?: string },
): Promise<Delivery> {
  const subscription = await lockedReceiver(changes, subscriptionId);
  const event = testEvent(subscription, chosenType(subscription, eventType), changes);
  const delivery = newDelivery(subscription, event, 'TEST', changes.now);
  await changes.deliveries.insertTestEvent(event);
  await changes.deliveries.insert([delivery]);
  await auditChange(changes, 'subscription.tested', subscription.id, {
    event_type: event.type,
    delivery_id: delivery.id,
  });
  return delivery;
}

/** The requested type, or the first that the subscription receives, in the order of the contract. */
function chosenType({ eventTypes }: Subscription, asked: string | undefined): EventType {
  const received = EVENT_TYPES.filter((type) => matchesAny(eventTypes, type));
  const chosen = asked === undefined ? received[0] : received.find((type) => type === asked);
  if (chosen === undefined) {
    const violation = `must be one that the subscription receives: ${received.join(', ')}`;
    throw invalidRequest('event_type', violation);
  }
  return chosen;
}

function testEvent(
  { instanceId }: Subscription,
  type: EventType,
  { now, actor }: OperatorChanges,
): StoredEvent {
  const { entity, data } = exampleEvents[type];
  const { links, ...content } = data;
  const linked = { ...content, links: { self: links.self.replace(RECEIVER_IN_SAMPLE, RECEIVER) } };
  return {
    id: newPublicId('EventId'),
    type,
    occurredAt: now,
    sequence: now,
    isTest: 1,
    instanceId,
    clientId: data.clientId,
    entityType: entity.type,
    entityId: entity.id,
    data: JSON.stringify(linked),
    requestId: actor.requestId ?? null,
  };
}
