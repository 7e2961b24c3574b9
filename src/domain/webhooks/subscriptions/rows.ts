import type { InstanceIntegrationId, SubscriptionId } from '../../../../generated/ids.js';
import { ErrorCode, existing, ServiceError } from '../../../errors/service-error.js';
import type { PageRequest } from '../../directory/page.js';
import { assertExpectedVersion } from '../../platform/changes.js';
import type { WebhookChanges } from '../unit-of-work.js';
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

export interface SubscriptionFilter {
  instanceIntegrationId?: string;
  status?: SubscriptionStatus;
}

/** Without deleted ones. */
export interface SubscriptionRows {
  find(id: string): Promise<ManagedSubscription | undefined>;
  /** Its state under an exclusive lock: events, attempts and operators wait for this transaction. */
  findLocked(id: string): Promise<ManagedSubscription | undefined>;
  /** Newest first. */
  page(page: PageRequest, filter: SubscriptionFilter): Promise<ManagedSubscription[]>;
  countOf(id: InstanceIntegrationId): Promise<number>;
  insert(subscription: Subscription): Promise<void>;
  /** Everything but the secrets. */
  update(subscription: Subscription): Promise<void>;
  /** Keeps the row for its deliveries, and removes the secrets. */
  delete(id: SubscriptionId, now: number): Promise<void>;
  insertSecret(id: SubscriptionId, secret: SubscriptionSecret, sealed: string): Promise<void>;
  setSecretExpiry(secretId: string, expiresAt: number): Promise<void>;
  deleteSecret(secretId: string): Promise<void>;
}

export async function getSubscription(
  { subscriptions }: { subscriptions: SubscriptionRows },
  id: string,
): Promise<ManagedSubscription> {
  return existing(await subscriptions.find(id), ErrorCode.SUBSCRIPTION_NOT_FOUND, 'subscription');
}

export async function lockedSubscription(
  { subscriptions }: { subscriptions: SubscriptionRows },
  id: string,
  expectedVersion?: string,
): Promise<ManagedSubscription> {
  const found = await subscriptions.findLocked(id);
  const subscription = existing(found, ErrorCode.SUBSCRIPTION_NOT_FOUND, 'subscription');
  assertExpectedVersion(subscription, expectedVersion);
  return subscription;
}

/** Keeps it active until the transaction ends, so that nothing is added while it is disabled. */
export async function lockedActiveSubscription(
  changes: { subscriptions: SubscriptionRows },
  id: string,
): Promise<ManagedSubscription> {
  const subscription = await lockedSubscription(changes, id);
  if (subscription.status !== 'ACTIVE') {
    throw subscriptionDisabled();
  }
  return subscription;
}

export function subscriptionDisabled(): ServiceError {
  const message = 'The subscription is disabled. Enable it first.';
  return new ServiceError(ErrorCode.SUBSCRIPTION_DISABLED, message);
}

export function auditSubscription(
  changes: Pick<WebhookChanges, 'audit' | 'actor'>,
  what: string,
  { id }: { id: SubscriptionId },
  attributes?: Record<string, string>,
): Promise<void> {
  const subject = { type: 'subscription', id };
  return changes.audit(changes.actor, { type: `subscription.${what}`, subject, attributes });
}

/** Without path and query, which may contain secrets. */
export function originOf(url: string): string {
  return new URL(url).origin;
}
