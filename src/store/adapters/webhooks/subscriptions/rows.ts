import type { Updateable } from 'kysely';
import type { InstanceId, InstanceIntegrationId, SubscriptionId } from '../../../../../generated/ids.js';
import type {
  ManagedSubscription,
  SubscriptionFilter,
  SubscriptionRows,
} from '../../../../domain/webhooks/subscriptions/rows.js';
import type {
  Subscription,
  SubscriptionStatus,
} from '../../../../domain/webhooks/subscriptions/subscription.js';
import type { Writer } from '../../../database.js';
import type { Schema } from '../../../schema.js';
import { olderThan } from '../../operator/newest-first.js';
import { deleteSecret, deleteSecretsOf, insertSecret, secretsOf, setSecretExpiry } from './secrets.js';

type Row = Schema['subscriptions'];

export function subscriptionRows(writer: Writer): SubscriptionRows {
  const present = () => writer.selectFrom('subscriptions').where('status', '<>', 'DELETED');
  const first = async (rows: readonly Row[]) => (await withSecrets(writer, rows))[0];
  return {
    find: async (id) => first(await present().where('id', '=', id).selectAll().execute()),
    // Writing a row locks it on PostgreSQL; this writes its present values.
    findLocked: async (id) =>
      first(
        await writer
          .updateTable('subscriptions')
          .set(({ ref }) => ({ version: ref('version') }))
          .where('id', '=', id)
          .where('status', '<>', 'DELETED')
          .returningAll()
          .execute(),
      ),
    page: async (page, { instanceIntegrationId, status }: SubscriptionFilter) => {
      let query = present().where(olderThan('subscriptions', page));
      if (instanceIntegrationId !== undefined) {
        query = query.where('instance_integration_id', '=', instanceIntegrationId);
      }
      if (status !== undefined) {
        query = query.where('status', '=', status);
      }
      const rows = await query
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(page.limit)
        .selectAll()
        .execute();
      return withSecrets(writer, rows);
    },
    countOf: async (id) => {
      const { count } = await present()
        .where('instance_integration_id', '=', id)
        .select(({ fn }) => fn.countAll().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    insert: async (subscription) => {
      await writer
        .insertInto('subscriptions')
        .values({ ...toRow(subscription), deleted_at: null })
        .execute();
    },
    update: (subscription) => update(writer, subscription.id, toRow(subscription)),
    delete: async (id, now) => {
      await update(writer, id, { status: 'DELETED', deleted_at: now, updated_at: now });
      await deleteSecretsOf(writer, id);
    },
    insertSecret: (id, secret, sealed) => insertSecret(writer, id, secret, sealed),
    setSecretExpiry: (secretId, expiresAt) => setSecretExpiry(writer, secretId, expiresAt),
    deleteSecret: (secretId) => deleteSecret(writer, secretId),
  };
}

async function update(writer: Writer, id: string, row: Updateable<Row>): Promise<void> {
  await writer.updateTable('subscriptions').set(row).where('id', '=', id).execute();
}

async function withSecrets(writer: Writer, rows: readonly Row[]): Promise<ManagedSubscription[]> {
  if (rows.length === 0) {
    return [];
  }
  const secrets = await secretsOf(
    writer,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    ...toSubscription(row),
    secrets: secrets
      .filter(({ subscriptionId }) => subscriptionId === row.id)
      .map(({ id, createdAt, expiresAt }) => ({ id, createdAt, expiresAt })),
  }));
}

function toSubscription(row: Row): Subscription {
  return {
    id: row.id as SubscriptionId,
    instanceIntegrationId: row.instance_integration_id as InstanceIntegrationId,
    instanceId: row.instance_id as InstanceId,
    url: row.url,
    eventTypes: JSON.parse(row.event_types),
    clientIds: JSON.parse(row.client_ids),
    description: row.description,
    status: row.status as SubscriptionStatus,
    disabledReason: row.disabled_reason,
    disabledAt: row.disabled_at,
    lastSuccessAt: row.last_success_at,
    failingSince: row.failing_since,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toRow(subscription: Subscription): Omit<Row, 'deleted_at'> {
  return {
    id: subscription.id,
    instance_integration_id: subscription.instanceIntegrationId,
    instance_id: subscription.instanceId,
    url: subscription.url,
    event_types: JSON.stringify(subscription.eventTypes),
    client_ids: JSON.stringify(subscription.clientIds),
    description: subscription.description,
    status: subscription.status,
    disabled_reason: subscription.disabledReason,
    disabled_at: subscription.disabledAt,
    last_success_at: subscription.lastSuccessAt,
    failing_since: subscription.failingSince,
    version: subscription.version,
    created_at: subscription.createdAt,
    updated_at: subscription.updatedAt,
  };
}
