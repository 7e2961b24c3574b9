import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { OperatorChanges } from '../../operator/unit-of-work.js';
import { auditChange } from '../../unit-of-work.js';
import type { Delivery } from '../deliveries.js';
import { findDelivery } from '../logs/deliveries.js';
import { lockedReceiver, newDelivery } from './rows.js';

/** Makes a new delivery of the same event, in any state of the earlier one. */
export async function resendDelivery(changes: OperatorChanges, id: string): Promise<Delivery> {
  const earlier = await findDelivery(changes, id);
  const subscription = await lockedReceiver(changes, earlier.subscriptionId);
  const { eventId } = earlier;
  if (!(await changes.eventLog.keep([eventId])).has(eventId)) {
    throw new ServiceError(ErrorCode.DELIVERY_NOT_FOUND, 'The delivery has just been purged.');
  }
  const event = { id: eventId, type: earlier.eventType };
  const delivery = newDelivery(subscription, event, 'RESEND', changes.now);
  await changes.deliveryLog.cancelHeld(subscription.id, [eventId], changes.now);
  await changes.deliveries.insert([delivery]);
  const attributes = { delivery_id: delivery.id, subscription_id: subscription.id, event_id: eventId };
  await auditChange(changes, 'delivery.resent', earlier.id, attributes);
  return delivery;
}
