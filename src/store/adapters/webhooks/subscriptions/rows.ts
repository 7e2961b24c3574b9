import type { Updateable } from 'kysely';
import type {
  ManagedSubscription,
  SubscriptionFilter,
  SubscriptionRows,
} from '../../../../domain/webhooks/subscriptions/rows.js';
import type { Subscription } from '../../../../domain/webhooks/subscriptions/subscription.js';
import { camelCased, type Rows, type Tables } from '../../../camel-case.js';
import type { Writer } from '../../../database.js';
import { newestFirst } from '../../statements/keyset.js';
import { deleteSecret, deleteSecretsOf, insertSecret, secretsOf, setSecretExpiry } from './secrets.js';

type Table = Tables['subscriptions'];
type Narrowed = Pick<Subscription, 'id' | 'instanceIntegrationId' | 'instanceId' | 'status'>;
type Row = Omit<Table, keyof Narrowed | 'warnedTenths'> & Narrowed & { warnedTenths: number };

export function subscriptionRows(writer: Writer): SubscriptionRows {
  const db = camelCased(writer);
  const present = () => db.selectFrom('subscriptions').where('status', '<>', 'DELETED');
  const first = async (rows: readonly Row[]) => (await withSecrets(db, rows))[0];
  return {
    find: async (id) =>
      first(await present().where('id', '=', id).selectAll().$narrowType<Narrowed>().execute()),
    // Writing a row locks it on PostgreSQL; this writes its present values.
    findLocked: async (id) =>
      first(
        await db
          .updateTable('subscriptions')
          .set(({ ref }) => ({ version: ref('version') }))
          .where('id', '=', id)
          .where('status', '<>', 'DELETED')
          .returningAll()
          .$narrowType<Narrowed>()
          .execute(),
      ),
    page: async (page, { instanceIntegrationId, status }: SubscriptionFilter) => {
      let query = present().selectAll().$narrowType<Narrowed>();
      if (instanceIntegrationId !== undefined) {
        query = query.where('instanceIntegrationId', '=', instanceIntegrationId);
      }
      if (status !== undefined) {
        query = query.where('status', '=', status);
      }
      return withSecrets(db, await newestFirst(query, 'subscriptions', page));
    },
    countOf: async (id) => {
      const { count } = await present()
        .where('instanceIntegrationId', '=', id)
        .select(({ fn }) => fn.countAll().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    insert: async (subscription) => {
      await db
        .insertInto('subscriptions')
        .values({ ...toRow(subscription), deletedAt: null })
        .execute();
    },
    update: (subscription) => update(db, subscription.id, toRow(subscription)),
    delete: async (id, now) => {
      await update(db, id, { status: 'DELETED', deletedAt: now, updatedAt: now });
      await deleteSecretsOf(db, id);
    },
    insertSecret: (id, secret, sealed) => insertSecret(writer, id, secret, sealed),
    setSecretExpiry: (secretId, expiresAt) => setSecretExpiry(db, secretId, expiresAt),
    deleteSecret: (secretId) => deleteSecret(db, secretId),
  };
}

async function update(db: Rows, id: string, row: Updateable<Table>): Promise<void> {
  await db.updateTable('subscriptions').set(row).where('id', '=', id).execute();
}

async function withSecrets(db: Rows, rows: readonly Row[]): Promise<ManagedSubscription[]> {
  if (rows.length === 0) {
    return [];
  }
  const secrets = await secretsOf(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    ...toSubscription(row),
    secrets: secrets
      .filter(({ subscriptionId }) => subscriptionId === row.id)
      .map(({ id, createdAt, expiresAt }) => ({ id, createdAt, expiresAt })),
  }));
}

function toSubscription({
  deletedAt: _,
  warnedFailingSince: _since,
  warnedTenths: _tenths,
  ...row
}: Row): Subscription {
  return { ...row, eventTypes: JSON.parse(row.eventTypes), clientIds: JSON.parse(row.clientIds) };
}

function toRow({ secrets: _, ...subscription }: Subscription & { secrets?: unknown }) {
  const { eventTypes, clientIds } = subscription;
  return { ...subscription, eventTypes: JSON.stringify(eventTypes), clientIds: JSON.stringify(clientIds) };
}
