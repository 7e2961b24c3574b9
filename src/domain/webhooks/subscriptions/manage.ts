import { ErrorCode, refused, ServiceError } from '../../../errors/service-error.js';
import { newPublicId } from '../../../identifiers/public-id.js';
import { lockedInstanceIntegration } from '../../operator/instance-integrations.js';
import type { InstanceIntegration } from '../../operator/rows/integrations.js';
import type { OperatorChanges } from '../../operator/unit-of-work.js';
import { changedFields, type Update, updatedFields } from '../../platform/changes.js';
import { Violations } from '../../platform/violations.js';
import { auditChange } from '../../unit-of-work.js';
import { madeAt } from '../../version.js';
import { lockedSubscription, type ManagedSubscription, writeSubscription } from './rows.js';
import {
  type AddressPolicy,
  allowedAddress,
  MAX_SUBSCRIPTIONS,
  type SubscriptionFields,
  validateSubscription,
} from './rules.js';
import { newSubscriptionSecret } from './secrets.js';
import type { SecretBox, Subscription } from './subscription.js';

export interface SubscriptionCreation
  extends Pick<Subscription, 'url' | 'eventTypes' | 'clientIds' | 'description'> {
  instanceIntegrationId: string;
}

type Write<T> = (changes: OperatorChanges) => Promise<T>;

/** First checks what needs no database, including the address; the returned function does the rest. */
export async function subscriptionCreation(
  creation: SubscriptionCreation,
  policy: AddressPolicy,
  secrets: SecretBox,
): Promise<Write<{ subscription: ManagedSubscription; secret: string }>> {
  validateSubscription(creation);
  const url = await allowedAddress(creation.url, policy);
  return async (changes) => {
    const connection = await lockedConfigured(changes, creation.instanceIntegrationId);
    await requireClients(changes, connection, creation.clientIds);
    await refuseTooMany(changes, connection);
    const subscription: Subscription = {
      id: newPublicId('SubscriptionId'),
      instanceIntegrationId: connection.id,
      instanceId: connection.instanceId,
      url,
      eventTypes: creation.eventTypes,
      clientIds: creation.clientIds,
      description: creation.description.trim(),
      status: 'ACTIVE',
      disabledReason: null,
      disabledAt: null,
      lastSuccessAt: null,
      failingSince: null,
      ...madeAt(changes.now),
    };
    await changes.subscriptions.insert(subscription);
    const { kept, secret } = await newSubscriptionSecret(changes, secrets, subscription.id);
    await auditChange(changes, 'subscription.created', subscription.id, {
      instance_integration_id: connection.id,
      url_origin: originOf(url),
    });
    return { subscription: { ...subscription, secrets: [kept] }, secret };
  };
}

export interface SubscriptionUpdate extends SubscriptionFields, Update {
  subscriptionId: string;
}

export async function subscriptionUpdate(
  update: SubscriptionUpdate,
  policy: AddressPolicy,
): Promise<Write<ManagedSubscription>> {
  const chosen = updatedFields(update, ['url', 'eventTypes'], ['clientIds', 'description']);
  validateSubscription(chosen);
  const url = chosen.url ? await allowedAddress(chosen.url, policy) : undefined;
  return async (changes) => {
    const present = await lockedSubscription(changes, update.subscriptionId, update.expectedVersion);
    await requireClients(changes, present, chosen.clientIds ?? []);
    const settings: Partial<Subscription> = {
      // The state of the old address does not apply to the new one.
      ...(url !== undefined && url !== present.url && { url, failingSince: null }),
      ...(chosen.eventTypes && { eventTypes: chosen.eventTypes }),
      ...(chosen.clientIds !== undefined && { clientIds: chosen.clientIds ?? [] }),
      ...(chosen.description !== undefined && { description: chosen.description?.trim() ?? '' }),
    };
    return writeSubscription(changes, 'updated', present, settings, {
      ...changedFields(present, { ...present, ...settings }),
      ...(settings.url && { url_origin: originOf(settings.url) }),
    });
  };
}

/** Locks the instance integration, with its subscriptions, until the transaction ends. */
async function lockedConfigured(changes: OperatorChanges, id: string): Promise<InstanceIntegration> {
  const connection = await lockedInstanceIntegration(changes, id);
  if (connection.configuredAt === null) {
    throw new ServiceError(
      ErrorCode.INSTANCE_INTEGRATION_NOT_CONFIGURED,
      'The instance integration is not configured. Configure it first.',
    );
  }
  return connection;
}

async function refuseTooMany(changes: OperatorChanges, { id }: InstanceIntegration): Promise<void> {
  if ((await changes.subscriptions.countOf(id)) >= MAX_SUBSCRIPTIONS) {
    throw refused(`The instance integration has ${MAX_SUBSCRIPTIONS} subscriptions. Delete one first.`);
  }
}

/** A client never changes its instance, and is never removed. */
async function requireClients(
  { clients }: OperatorChanges,
  { instanceId }: { instanceId: string },
  ids: readonly string[],
): Promise<void> {
  const violations = new Violations();
  for (const [index, id] of ids.entries()) {
    if ((await clients.find(id))?.instanceId !== instanceId) {
      violations.add(`client_ids[${index}]`, 'is not the id of a client of the instance');
    }
  }
  violations.throwIfAny(ErrorCode.CLIENT_NOT_FOUND, 'The instance has no such client.');
}

/** Without path and query, which may contain secrets. */
function originOf(url: string): string {
  return new URL(url).origin;
}
