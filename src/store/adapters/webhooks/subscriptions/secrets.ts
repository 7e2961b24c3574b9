import type { SubscriptionSecret } from '../../../../domain/webhooks/subscriptions/rows.js';
import type { Writer } from '../../../database.js';
import { assertNotRetired } from '../../operator/encryption-keys.js';

export async function insertSecret(
  writer: Writer,
  subscriptionId: string,
  { id, createdAt, expiresAt }: SubscriptionSecret,
  sealed: string,
): Promise<void> {
  await assertNotRetired(writer, [sealed]);
  await writer
    .insertInto('subscription_secrets')
    .values({ id, subscription_id: subscriptionId, sealed, created_at: createdAt, expires_at: expiresAt })
    .execute();
}

export async function setSecretExpiry(writer: Writer, id: string, expiresAt: number): Promise<void> {
  await writer
    .updateTable('subscription_secrets')
    .set({ expires_at: expiresAt })
    .where('id', '=', id)
    .execute();
}

export async function deleteSecret(writer: Writer, id: string): Promise<void> {
  await writer.deleteFrom('subscription_secrets').where('id', '=', id).execute();
}

export async function deleteSecretsOf(writer: Writer, subscriptionId: string): Promise<void> {
  await writer.deleteFrom('subscription_secrets').where('subscription_id', '=', subscriptionId).execute();
}

/** Without their seals, oldest first. */
export async function secretsOf(
  writer: Writer,
  subscriptionIds: readonly string[],
): Promise<(SubscriptionSecret & { subscriptionId: string })[]> {
  const rows = await writer
    .selectFrom('subscription_secrets')
    .where('subscription_id', 'in', subscriptionIds)
    .orderBy('created_at')
    .orderBy('id')
    .select(['id', 'subscription_id', 'created_at', 'expires_at'])
    .execute();
  return rows.map(({ id, subscription_id, created_at, expires_at }) => ({
    id,
    subscriptionId: subscription_id,
    createdAt: created_at,
    expiresAt: expires_at,
  }));
}
