import type { DeliveryId, EventId, SubscriptionId } from '../../../../generated/ids.js';
import { ErrorCode, existing } from '../../../errors/service-error.js';
import { getterOf } from '../../unit-of-work.js';
import type { Delivery, DeliveryAttempt, DeliveryStatus } from '../deliveries.js';
import { eventBody } from '../event-body.js';
import type { EventLogRows, LoggedEvent } from './events.js';
import type { LogEntryRows } from './log-entries.js';
import type { LogFilter, LogPage, LogPageRequest } from './page.js';

export interface DeliveryFilter extends LogFilter {
  subscriptionId?: string;
  instanceIntegrationId?: string;
  eventId?: string;
  /** Empty means all. */
  statuses: readonly DeliveryStatus[];
}

export interface DeliveryLogRows extends LogEntryRows {
  /** Newest first. */
  page(page: LogPageRequest, filter: DeliveryFilter): Promise<LogPage<Delivery>>;
  find(id: string): Promise<Delivery | undefined>;
  /** Ended attempts, oldest first. */
  attemptsOf(id: DeliveryId): Promise<DeliveryAttempt[]>;
  /** The progress of these events' deliveries to the subscription. */
  statusesOf(
    id: SubscriptionId,
    eventIds: readonly EventId[],
  ): Promise<{ eventId: EventId; status: DeliveryStatus }[]>;
  /** Cancels held deliveries of these events, which get new ones. */
  cancelHeld(id: SubscriptionId, eventIds: readonly EventId[], now: number): Promise<void>;
}

export interface RunningAttempt {
  number: number;
  startedAt: number;
  outcome: null;
}

interface DeliveryDetails {
  delivery: Delivery;
  /** Oldest first. */
  attempts: (DeliveryAttempt | RunningAttempt)[];
  /** As posted. */
  body: string;
  event: LoggedEvent;
}

export const findDelivery = getterOf('deliveryLog', ErrorCode.DELIVERY_NOT_FOUND, 'delivery');

export async function getDelivery(
  { deliveryLog, eventLog }: { deliveryLog: DeliveryLogRows; eventLog: EventLogRows },
  id: string,
): Promise<DeliveryDetails> {
  const delivery = await findDelivery({ deliveryLog }, id);
  const ended = await deliveryLog.attemptsOf(delivery.id);
  // An event outlives its deliveries, so both were purged meanwhile.
  const event = existing(await eventLog.find(delivery.eventId), ErrorCode.DELIVERY_NOT_FOUND, 'delivery');
  const { attemptsBegun: number, attemptStartedAt: startedAt } = delivery;
  // The attempt may have ended between the two reads.
  const isRunning = startedAt !== null && ended.every((attempt) => attempt.number !== number);
  return {
    delivery,
    attempts: isRunning ? [...ended, { number, startedAt, outcome: null }] : ended,
    body: eventBody(event, delivery.instanceIntegrationId),
    event,
  };
}
