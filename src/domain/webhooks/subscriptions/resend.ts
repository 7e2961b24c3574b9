import { ErrorCode, refused, ServiceError } from '../../../errors/service-error.js';
import type { OperatorChanges } from '../../operator/unit-of-work.js';
import { auditChange } from '../../unit-of-work.js';
import type { Delivery } from '../deliveries.js';
import { findDelivery } from '../logs/deliveries.js';
import { lockedReceiver, newDelivery } from './rows.js';

/**
 * Makes a new delivery of the same event, in any state of the earlier one. Refuses an event from before
 * `keptSince`, the start of the retention, which a younger delivery still keeps.
 */
export async function resendDelivery(
  changes: OperatorChanges,
  id: string,
  keptSince: number,
): Promise<Delivery> {
  const earlier = await findDelivery(changes, id);
  const subscription = await lockedReceiver(changes, earlier.subscriptionId);
  const { eventId } = earlier;
  await changes.eventLog.keep([eventId]);
  const event = await changes.eventLog.find(eventId);
  if (!event) {
    throw new ServiceError(ErrorCode.DELIVERY_NOT_FOUND, 'The delivery has just been purged.');
  }
  if (event.occurredAt < keptSince) {
    throw refused(
      'The event is older than EVENT_RETENTION, so it is not sent again: its receiver may have dropped its id, and would process it twice.',
    );
  }
  const delivery = newDelivery(subscription, event, 'RESEND', changes.now);
  await changes.deliveryLog.cancelHeld(subscription.id, [eventId], changes.now);
  await changes.deliveries.insert([delivery]);
  const attributes = { delivery_id: delivery.id, subscription_id: subscription.id, event_id: eventId };
  await auditChange(changes, 'delivery.resent', earlier.id, attributes);
  return delivery;
}
