import type { EventId, InstanceIntegrationId, SubscriptionId } from '../../../../generated/ids.js';
import { ErrorCode, existing, ServiceError } from '../../../errors/service-error.js';
import { newNeighbouringId } from '../../../identifiers/public-id.js';
import type { PageRequest } from '../../directory/page.js';
import type { ActOn } from '../../operator/audit-types.js';
import type { SecretRows } from '../../operator/lifetime.js';
import type { OperatorChanges } from '../../operator/unit-of-work.js';
import { assertExpectedVersion, writeChanged } from '../../platform/changes.js';
import { auditChange, getterOf } from '../../unit-of-work.js';
import { type Delivery, type DeliveryOrigin, UNTRIED } from '../deliveries.js';
import type { StoredEvent } from '../event-body.js';
import type { Subscription, SubscriptionStatus } from './subscription.js';

/** A signing secret, without the secret itself. */
export interface SubscriptionSecret {
  /** The name for the seal. */
  id: string;
  createdAt: number;
  /** Null until a rotation sets it. */
  expiresAt: number | null;
}

/** A subscription as operators see it. */
export interface ManagedSubscription extends Subscription {
  /** Oldest first; ended ones stay until the next rotation or purge. */
  secrets: SubscriptionSecret[];
}

interface SubscriptionFilter {
  instanceIntegrationId?: string;
  status?: SubscriptionStatus;
}

/** Without deleted ones. */
export interface SubscriptionRows extends SecretRows {
  find(id: string): Promise<ManagedSubscription | undefined>;
  /**
   * Its state under an exclusive lock. Operators and results that change it wait for this transaction; so do
   * writes of events, unless `isBesideEvents`. Without it, this lock must wait for all of them, which may
   * follow each other without a gap.
   */
  findLocked(id: string, isBesideEvents?: boolean): Promise<ManagedSubscription | undefined>;
  /** Newest first. */
  page(page: PageRequest, filter: SubscriptionFilter): Promise<ManagedSubscription[]>;
  countOf(id: InstanceIntegrationId): Promise<number>;
  insert(subscription: Subscription): Promise<void>;
  /** Everything but the secrets. */
  update(subscription: Subscription): Promise<void>;
  /** Keeps the row for its deliveries, and removes the secrets. */
  delete(id: SubscriptionId, now: number): Promise<void>;
  insertSecret(id: SubscriptionId, secret: SubscriptionSecret, sealed: string): Promise<void>;
}

export const getSubscription = getterOf('subscriptions', ErrorCode.SUBSCRIPTION_NOT_FOUND, 'subscription');

export async function lockedSubscription(
  { subscriptions }: { subscriptions: SubscriptionRows },
  id: string,
  expectedVersion?: string,
  isBesideEvents = false,
): Promise<ManagedSubscription> {
  const found = await subscriptions.findLocked(id, isBesideEvents);
  const subscription = existing(found, ErrorCode.SUBSCRIPTION_NOT_FOUND, 'subscription');
  assertExpectedVersion(subscription, expectedVersion);
  return subscription;
}

/** Writes changed fields, except for secrets, with a new version and an audit event. */
export function writeSubscription(
  changes: Pick<OperatorChanges, 'actor' | 'audit' | 'now' | 'subscriptions'>,
  what: ActOn<'subscription'>,
  present: ManagedSubscription,
  fields: Partial<ManagedSubscription>,
  attributes?: Record<string, string>,
): Promise<ManagedSubscription> {
  return writeChanged(present, fields, changes.now, async (changed) => {
    await changes.subscriptions.update(changed);
    await auditChange(changes, `subscription.${what}`, changed.id, attributes);
  });
}

/**
 * A subscription to send to. Keeps it active until the transaction ends, so that nothing is added while it is
 * disabled.
 */
export async function lockedReceiver(
  changes: Pick<OperatorChanges, 'subscriptions' | 'instanceIntegrations'>,
  id: string,
): Promise<ManagedSubscription> {
  const subscription = await lockedSubscription(changes, id, undefined, true);
  if (subscription.status !== 'ACTIVE') {
    throw subscriptionDisabled();
  }
  await assertConfigured(changes, subscription);
  return subscription;
}

/** Events are recorded and sent again only while the connection is configured: links would not work. */
export async function assertConfigured(
  { instanceIntegrations }: Pick<OperatorChanges, 'instanceIntegrations'>,
  { instanceIntegrationId }: Subscription,
): Promise<void> {
  const connection = await instanceIntegrations.find(instanceIntegrationId);
  if (!connection || connection.configuredAt === null) {
    throw new ServiceError(
      ErrorCode.INSTANCE_INTEGRATION_NOT_CONFIGURED,
      'The instance integration of the subscription is not configured.',
    );
  }
}

export function subscriptionDisabled(): ServiceError {
  const message = 'The subscription is disabled. Enable it first.';
  return new ServiceError(ErrorCode.SUBSCRIPTION_DISABLED, message);
}

/** An inactive subscription with deliveries that must not be open. */
export interface ClosedSubscription {
  id: SubscriptionId;
  isDeleted: boolean;
}

/** How many deliveries one write holds or cancels, so that others get their turns. */
export const MOST_CLOSED_AT_ONCE = 500;

export interface SubscriptionDeliveryRows {
  /** How far it is behind. */
  backlogOf(id: SubscriptionId): Promise<{ pending: number; held: number }>;
  /** When the first event with a held delivery happened. */
  heldSince(id: SubscriptionId): Promise<number | null>;
  /** All at once. */
  insert(deliveries: readonly Delivery[]): Promise<void>;
  /** Writes a test event. */
  insertTestEvent(event: StoredEvent): Promise<void>;
  /** Holds pending deliveries, up to `most`. A running attempt continues, and its success counts. */
  holdPending(id: SubscriptionId, most: number): Promise<number>;
  /** Cancels pending and held deliveries, up to `most`. */
  cancelOpen(id: SubscriptionId, now: number, most: number): Promise<number>;
  /** Disabled subscriptions with pending deliveries, and deleted ones with open ones. */
  leftOpen(limit: number): Promise<ClosedSubscription[]>;
}

/** A delivery to an active subscription, due at once. */
export function newDelivery(
  { id, instanceIntegrationId }: Subscription,
  event: { id: EventId; type: string },
  origin: DeliveryOrigin,
  now: number,
): Delivery {
  return {
    id: newNeighbouringId('DeliveryId'),
    subscriptionId: id,
    instanceIntegrationId,
    eventId: event.id,
    eventType: event.type,
    origin,
    ...UNTRIED,
    createdAt: now,
  };
}
