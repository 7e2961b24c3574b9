import type { SubscriptionSecret } from '../../../../domain/webhooks/subscriptions/rows.js';
import { camelCased, type Rows } from '../../../camel-case.js';
import type { Writer } from '../../../database.js';
import { assertNotRetired } from '../../operator/encryption-keys.js';

export async function insertSecret(
  writer: Writer,
  subscriptionId: string,
  { id, createdAt, expiresAt }: SubscriptionSecret,
  sealed: string,
): Promise<void> {
  await assertNotRetired(writer, [sealed]);
  await camelCased(writer)
    .insertInto('subscriptionSecrets')
    .values({ id, subscriptionId, sealed, createdAt, expiresAt })
    .execute();
}

export async function setSecretExpiry(db: Rows, id: string, expiresAt: number): Promise<void> {
  await db.updateTable('subscriptionSecrets').set({ expiresAt }).where('id', '=', id).execute();
}

export async function deleteSecret(db: Rows, id: string): Promise<void> {
  await db.deleteFrom('subscriptionSecrets').where('id', '=', id).execute();
}

export async function deleteSecretsOf(db: Rows, subscriptionId: string): Promise<void> {
  await db.deleteFrom('subscriptionSecrets').where('subscriptionId', '=', subscriptionId).execute();
}

/** Without their seals, oldest first. */
export function secretsOf(
  db: Rows,
  subscriptionIds: readonly string[],
): Promise<(SubscriptionSecret & { subscriptionId: string })[]> {
  return db
    .selectFrom('subscriptionSecrets')
    .where('subscriptionId', 'in', subscriptionIds)
    .orderBy('createdAt')
    .orderBy('id')
    .select(['id', 'subscriptionId', 'createdAt', 'expiresAt'])
    .execute();
}
