import { randomBytes } from 'node:crypto';
import type { EventId, InstanceIntegrationId } from '../../../../../generated/ids.js';
import type { OperatorChanges } from '../../../../../src/domain/operator/unit-of-work.js';
import { inNameOf } from '../../../../../src/domain/unit-of-work.js';
import {
  type SubscriptionCreation,
  type SubscriptionUpdate,
  subscriptionCreation,
  subscriptionUpdate,
} from '../../../../../src/domain/webhooks/subscriptions/manage.js';
import { newDelivery } from '../../../../../src/domain/webhooks/subscriptions/rows.js';
import type { Subscription } from '../../../../../src/domain/webhooks/subscriptions/subscription.js';
import { newPublicId } from '../../../../../src/identifiers/public-id.js';
import { SealedBox } from '../../../../../src/keys/sealed-box.js';
import { operatorUnitOfWork } from '../../../../../src/store/adapters/operator/unit-of-work.js';
import type { Database } from '../../../../../src/store/database.js';
import { fakeClock } from '../../../../domain/clock.js';
import type { DatabaseUnderTest } from '../../../../support/databases.js';
import { plantClient } from '../../../directory-rows.js';
import { plantConnection, plantInstance, plantIntegration, type Row } from '../../../rows.js';
import { OPERATOR } from '../../operator/rig.js';

const ROWS_PER_INSERT = 500;

/** What a subscription needs, but for where it belongs. */
export const HOOK = {
  url: 'https://hooks.example.com/in',
  eventTypes: ['*'],
  clientIds: [],
  description: '',
};

/** A migrated database with an instance integration, and the operator's unit of work over it. */
export async function subscriptionRig(under: DatabaseUnderTest) {
  const database = await under.openMigrated();
  const clock = fakeClock();
  const woken: number[] = [];
  const due = { onDue: () => woken.push(clock.now()) };
  const unitOfWork = operatorUnitOfWork({ ...database, clock: clock.now }, due);
  const secrets = new SealedBox(randomBytes(32));
  const policy = { addressGuard: { refusalOf: async () => undefined } };
  const connection = await newConnection(database);
  const run = <T>(work: (changes: OperatorChanges) => Promise<T>) => inNameOf(OPERATOR, unitOfWork).run(work);
  return {
    database,
    clock,
    woken,
    unitOfWork,
    policy,
    secrets,
    connection,
    run,
    rows: unitOfWork.rows,
    create: async (creation: Partial<SubscriptionCreation> = {}) => {
      const whole = { ...HOOK, instanceIntegrationId: connection.id, ...creation };
      return run(await subscriptionCreation(whole, policy, secrets));
    },
    update: async (update: SubscriptionUpdate) => run(await subscriptionUpdate(update, policy)),
    audited: () => auditedIn(database),
  };
}

/** One that is set up unless told otherwise, with a client on its instance. */
export async function newConnection(database: Database, row: Row<'instance_integrations'> = {}) {
  const { id: integration_id } = await plantIntegration(database);
  const { id: instance_id } = await plantInstance(database);
  const { id } = await plantConnection(database, { integration_id, instance_id, configured_at: 1, ...row });
  const client = await plantClient(database, { instance_id });
  return { id: id as InstanceIntegrationId, instanceId: instance_id, clientId: client.id };
}

/** What the audit log has of subscriptions, oldest first. */
export async function auditedIn({ reader }: Database) {
  const rows = await reader.selectFrom('audit_events').orderBy('created_at').selectAll().execute();
  return rows.map(({ type, subject_id, attributes }) => ({ type, subject_id, ...JSON.parse(attributes) }));
}

/** An event with one delivery of it, as if it had been recorded. */
export async function plantDelivery(
  database: Database,
  subscription: Subscription,
  row: Row<'deliveries'> = {},
  occurredAt = 1_790_000_000_000,
) {
  const event = { id: newPublicId('EventId') as EventId, type: 'user.updated' };
  const { id } = newDelivery(subscription, event, 'EVENT', occurredAt);
  await database.write(async (writer) => {
    const { seq } = await writer
      .insertInto('events')
      .values({
        id: event.id,
        type: event.type,
        occurred_at: occurredAt,
        sequence: occurredAt,
        instance_id: subscription.instanceId,
        client_id: newPublicId('ClientId'),
        entity_type: 'user',
        entity_id: newPublicId('UserId'),
        data: '{}',
      })
      .returning('seq')
      .executeTakeFirstOrThrow();
    const delivery = {
      id: id as string,
      event_seq: seq,
      subscription_id: subscription.id as string,
      event_id: event.id as string,
      event_type: event.type,
      origin: 'EVENT' as const,
      status: 'PENDING' as const,
      attempts_begun: 0,
      attempt_started_at: null,
      lease_until: null,
      next_attempt_at: null,
      retry_batch_id: null,
      created_at: occurredAt,
      ended_at: null,
    };
    await writer
      .insertInto('deliveries')
      .values({ ...delivery, ...row })
      .execute();
  });
  return id;
}

/** Many held deliveries of one event. */
export async function plantHeld(database: Database, subscription: Subscription, count: number) {
  const id = await plantDelivery(database, subscription, { status: 'HELD' });
  await database.write(async (writer) => {
    const planted = writer.selectFrom('deliveries').where('id', '=', id).selectAll();
    const row: Row<'deliveries'> & { place?: number } = await planted.executeTakeFirstOrThrow();
    const { seq: _seq, place: _place, ...held } = row;
    for (let made = 1; made < count; made += ROWS_PER_INSERT) {
      const rows = Array.from({ length: Math.min(ROWS_PER_INSERT, count - made) }, () => held);
      await writer
        .insertInto('deliveries')
        .values(rows.map((each) => ({ ...each, id: newPublicId('DeliveryId') })) as never)
        .execute();
    }
  });
}

/** Every delivery as it stands, by its id. */
export async function deliveriesIn({ reader }: Database) {
  const rows = await reader.selectFrom('deliveries').selectAll().execute();
  return new Map(rows.map((row) => [row.id, row]));
}
