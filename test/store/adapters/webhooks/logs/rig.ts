import type { DeliveryId, EventId } from '../../../../../generated/ids.js';
import { newDelivery } from '../../../../../src/domain/webhooks/subscriptions/rows.js';
import type { Subscription } from '../../../../../src/domain/webhooks/subscriptions/subscription.js';
import { newPublicId } from '../../../../../src/identifiers/public-id.js';
import type { Database } from '../../../../../src/store/database.js';
import type { DatabaseUnderTest } from '../../../../support/databases.js';
import type { Row } from '../../../rows.js';
import { subscriptionRig } from '../subscriptions/rig.js';

/** A subscription, and events and deliveries as others would have made them. */
export async function logRig(under: DatabaseUnderTest) {
  const rig = await subscriptionRig(under);
  const { database, clock, connection } = rig;
  const { subscription } = await rig.create();
  return {
    ...rig,
    subscription,
    /** Of the connection's instance and client unless told otherwise; as old as the clock says. */
    event: (row: Row<'events'> = {}) =>
      plantEvent(database, {
        instance_id: connection.instanceId,
        client_id: connection.clientId,
        occurred_at: clock.now(),
        ...row,
      }),
    /** As many, each with what the function says of it, in one transaction. */
    events: async (count: number, row: (index: number) => Row<'events'> = () => ({})) => {
      const { instanceId: instance_id, clientId: client_id } = connection;
      const rows = Array.from({ length: count }, (_, index) =>
        eventRow({ instance_id, client_id, occurred_at: clock.now(), ...row(index) }),
      );
      await database.write((writer) => writer.insertInto('events').values(rows).execute());
      return rows.map(({ id }) => id);
    },
    /** Of a new event unless one is named. */
    deliver: async (row: Row<'deliveries'> = {}, to: Subscription = subscription) => {
      const created_at = row.created_at ?? clock.now();
      const type = row.event_type ?? 'user.updated';
      const event_id =
        row.event_id ??
        (await plantEvent(database, {
          type,
          instance_id: to.instanceId,
          client_id: connection.clientId,
          occurred_at: created_at,
        }));
      return plantDeliveryRow(database, to, { ...row, created_at, event_type: type, event_id });
    },
    attempt: (deliveryId: DeliveryId, row: Row<'delivery_attempts'> = {}) =>
      plantAttempt(database, deliveryId, { ended_at: clock.now(), ...row }),
  };
}

export async function plantEvent(database: Database, row: Row<'events'> & { occurred_at: number }) {
  const planted = eventRow(row);
  await database.write((writer) => writer.insertInto('events').values(planted).execute());
  return planted.id;
}

function eventRow(row: Row<'events'> & { occurred_at: number }) {
  const id = (row.id ?? newPublicId('EventId')) as EventId;
  return {
    type: 'user.updated',
    instance_id: newPublicId('InstanceId'),
    client_id: newPublicId('ClientId'),
    entity_type: 'user',
    entity_id: newPublicId('UserId'),
    data: '{"links":{"self":"/v1/instance-integrations/{instanceIntegrationId}/clients/cli_1"}}',
    sequence: row.occurred_at,
    ...row,
    id,
  };
}

async function plantDeliveryRow(
  database: Database,
  subscription: Subscription,
  row: Row<'deliveries'> & { created_at: number; event_id: string; event_type: string },
) {
  const event = { id: row.event_id as EventId, type: row.event_type };
  const delivery = newDelivery(subscription, event, 'EVENT', row.created_at);
  const { seq: event_seq } = await database.reader
    .selectFrom('events')
    .where('id', '=', row.event_id)
    .select('seq')
    .executeTakeFirstOrThrow();
  const planted = {
    id: delivery.id as string,
    event_seq,
    subscription_id: delivery.subscriptionId,
    origin: delivery.origin,
    status: delivery.status,
    attempts_begun: 0,
    attempt_started_at: null,
    lease_until: null,
    next_attempt_at: null,
    retry_batch_id: null,
    ended_at: null,
    ...row,
  };
  await database.write((writer) => writer.insertInto('deliveries').values(planted).execute());
  return planted.id as DeliveryId;
}

export async function plantAttempt(
  database: Database,
  deliveryId: string,
  row: Row<'delivery_attempts'> & { ended_at: number },
): Promise<void> {
  const { seq } = await database.reader
    .selectFrom('deliveries')
    .where('id', '=', deliveryId)
    .select('seq')
    .executeTakeFirstOrThrow();
  const planted = {
    delivery_seq: seq,
    number: 1,
    started_at: row.ended_at - 12,
    outcome: 'STATUS_REFUSED' as const,
    duration_ms: 12,
    http_status: 500,
    message: 'The receiver answered 500.',
    response_start: null,
    ...row,
  };
  await database.write((writer) => writer.insertInto('delivery_attempts').values(planted).execute());
}
