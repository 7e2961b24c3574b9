import type { DeliveryId, EventId, SubscriptionId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { Delivery, DeliveryAttempt, DeliveryStatus } from './deliveries.js';
import { eventBody } from './event-body.js';
import type { HappeningRows } from './happenings.js';
import type { LogFilter } from './log-filter.js';
import type { LogPage, LogPageRequest } from './log-page.js';
import type { WebhookRows } from './unit-of-work.js';

export interface DeliveryFilter extends LogFilter {
  subscriptionId?: string;
  instanceIntegrationId?: string;
  eventId?: string;
  /** None means all. */
  statuses: readonly DeliveryStatus[];
}

export interface DeliveryLogRows extends HappeningRows {
  /** Newest first. */
  page(page: LogPageRequest, filter: DeliveryFilter): Promise<LogPage<Delivery>>;
  find(id: string): Promise<Delivery | undefined>;
  /** Those that have ended, the first one first. */
  attemptsOf(id: DeliveryId): Promise<DeliveryAttempt[]>;
  /** How far the deliveries of these events to the subscription are. */
  statusesOf(
    id: SubscriptionId,
    eventIds: readonly EventId[],
  ): Promise<{ eventId: EventId; status: DeliveryStatus }[]>;
  /** For events whose later deliveries take the place of those that are held. */
  cancelHeld(id: SubscriptionId, eventIds: readonly EventId[], now: number): Promise<void>;
}

/** An attempt that has begun and not ended. */
export interface RunningAttempt {
  number: number;
  startedAt: number;
  outcome: null;
}

export interface DeliveryDetails {
  delivery: Delivery;
  /** The first one first. */
  attempts: (DeliveryAttempt | RunningAttempt)[];
  /** As it is posted. */
  body: string;
}

export async function findDelivery(
  { deliveryLog }: Pick<WebhookRows, 'deliveryLog'>,
  id: string,
): Promise<Delivery> {
  return required(await deliveryLog.find(id));
}

export async function getDelivery(
  { deliveryLog, eventLog }: Pick<WebhookRows, 'deliveryLog' | 'eventLog'>,
  id: string,
): Promise<DeliveryDetails> {
  const delivery = await findDelivery({ deliveryLog }, id);
  const ended = await deliveryLog.attemptsOf(delivery.id);
  // An event outlives its deliveries, so both have been purged meanwhile.
  const event = required(await eventLog.find(delivery.eventId));
  return {
    delivery,
    attempts: [...ended, ...runningAttempt(delivery, ended)],
    body: eventBody(event, delivery.instanceIntegrationId),
  };
}

/** The attempt may have ended between the two reads. */
function runningAttempt(
  { attemptsBegun, attemptStartedAt }: Delivery,
  ended: readonly DeliveryAttempt[],
): RunningAttempt[] {
  return attemptStartedAt === null || ended.some(({ number }) => number === attemptsBegun)
    ? []
    : [{ number: attemptsBegun, startedAt: attemptStartedAt, outcome: null }];
}

function required<T>(found: T | undefined): T {
  if (found === undefined) {
    throw new ServiceError(ErrorCode.DELIVERY_NOT_FOUND, 'There is no such delivery.');
  }
  return found;
}
