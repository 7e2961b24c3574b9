import { randomBytes } from 'node:crypto';
import type { SubscriptionId } from '../../../../generated/ids.js';
import { newRecordId } from '../../../identifiers/record-id.js';
import { letEnd, validateRotation } from '../../operator/lifetime.js';
import type { OperatorChanges } from '../../operator/unit-of-work.js';
import {
  lockedSubscription,
  type ManagedSubscription,
  type SubscriptionSecret,
  writeSubscription,
} from './rows.js';
import type { SecretBox } from './subscription.js';

/** The prefix of Standard Webhooks. */
const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Each delivery has a signature for each of them. */
const MAX_SECRETS = 5;

export async function newSubscriptionSecret(
  { now, subscriptions }: OperatorChanges,
  secrets: SecretBox,
  subscriptionId: SubscriptionId,
): Promise<{ kept: SubscriptionSecret; secret: string }> {
  const bytes = randomBytes(SECRET_BYTES);
  const kept = { id: newRecordId('sec'), createdAt: now, expiresAt: null };
  await subscriptions.insertSecret(subscriptionId, kept, secrets.seal(bytes, kept.id));
  return { kept, secret: `${PREFIX}${bytes.toString('base64')}` };
}

/** Removes expired secrets; valid ones end after the overlap. */
export async function rotateSubscriptionSecret(
  changes: OperatorChanges,
  secrets: SecretBox,
  { subscriptionId, overlapSeconds }: { subscriptionId: string; overlapSeconds?: number },
): Promise<{ subscription: ManagedSubscription; secret: string }> {
  validateRotation({ overlapSeconds }, changes.now);
  const present = await lockedSubscription(changes, subscriptionId, undefined, true);
  const ending = await letEnd(changes.subscriptions, present.secrets, [changes.now, overlapSeconds], {
    most: MAX_SECRETS,
    message: `The subscription has ${MAX_SECRETS} secrets that sign. Rotate with an overlap of 0 to end them, or wait until one has ended.`,
  });
  const { kept, secret } = await newSubscriptionSecret(changes, secrets, present.id);
  const renewed = { secrets: [...ending, kept] };
  const attributes = { secret_id: kept.id };
  const subscription = await writeSubscription(changes, 'secret_rotated', present, renewed, attributes);
  return { subscription, secret };
}
