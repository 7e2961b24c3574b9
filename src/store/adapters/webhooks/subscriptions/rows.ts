import type {
  ManagedSubscription,
  SubscriptionRows,
} from '../../../../domain/webhooks/subscriptions/rows.js';
import type { Subscription } from '../../../../domain/webhooks/subscriptions/subscription.js';
import { camelCased, type Rows, type Tables, type Writer } from '../../../database.js';
import { assertNotRetired } from '../../operator/encryption-keys.js';
import { isPostgres } from '../../statements/dialect.js';
import { counted } from '../../statements/kept-statement.js';
import { newestFirst } from '../../statements/keyset.js';
import { plainWrites } from '../../statements/plain-writes.js';

type Table = Tables['subscriptions'];
type Narrowed = Pick<Subscription, 'id' | 'instanceIntegrationId' | 'instanceId' | 'status'>;
type Row = Omit<Table, keyof Narrowed | 'warnedTenths'> & Narrowed & { warnedTenths: number };

export function subscriptionRows(writer: Writer): SubscriptionRows {
  const db = camelCased(writer);
  const { insert, update } = plainWrites(db, 'subscriptions');
  const secrets = plainWrites(db, 'subscriptionSecrets');
  const present = () => db.selectFrom('subscriptions').where('status', '<>', 'DELETED');
  const rows = () => present().selectAll().$narrowType<Narrowed>();
  const first = async (found: readonly Row[]) => (await withSecrets(db, found))[0];
  return {
    find: async (id) => first(await rows().where('id', '=', id).execute()),
    findLocked: async (id, isBesideEvents = false) => {
      const query = rows().where('id', '=', id);
      const locked = () => (isBesideEvents ? query.forNoKeyUpdate() : query.forUpdate());
      return first(await (isPostgres(writer) ? locked() : query).execute());
    },
    page: async (page, { instanceIntegrationId, status }) => {
      const found = rows().where(({ and }) => and({ instanceIntegrationId, status }));
      return withSecrets(db, await newestFirst(found, 'subscriptions', page));
    },
    countOf: (id) => counted(present().where('instanceIntegrationId', '=', id)),
    insert: (subscription) => insert({ ...toRow(subscription), deletedAt: null }),
    update: (subscription) => update(toRow(subscription)),
    delete: async (id, now) => {
      await update({ id, status: 'DELETED', deletedAt: now, updatedAt: now });
      await db.deleteFrom('subscriptionSecrets').where('subscriptionId', '=', id).execute();
    },
    insertSecret: async (subscriptionId, { id, createdAt, expiresAt }, sealed) => {
      await assertNotRetired(writer, [sealed]);
      await secrets.insert({ id, subscriptionId, sealed, createdAt, expiresAt });
    },
    setSecretExpiry: (id, expiresAt) => secrets.update({ id, expiresAt }),
    deleteSecret: secrets.delete,
    forgetSecret: secrets.delete,
  };
}

async function withSecrets(db: Rows, rows: readonly Row[]): Promise<ManagedSubscription[]> {
  if (rows.length === 0) {
    return [];
  }
  const secrets = await db
    .selectFrom('subscriptionSecrets')
    .where(
      'subscriptionId',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('createdAt')
    .orderBy('id')
    .select(['id', 'subscriptionId', 'createdAt', 'expiresAt'])
    .execute();
  return rows.map((row) => ({
    ...toSubscription(row),
    secrets: secrets
      .filter(({ subscriptionId }) => subscriptionId === row.id)
      .map(({ subscriptionId: _, ...secret }) => secret),
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
