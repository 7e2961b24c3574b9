import { type Insertable, type RawBuilder, sql } from 'kysely';
import type { EventType } from '../../../../generated/asyncapi/events.js';
import type { SubscriptionId } from '../../../../generated/ids.js';
import type { RecordedEvent } from '../../../domain/platform/unit-of-work.js';
import type { WriteOrigin } from '../../../domain/unit-of-work.js';
import { faultOfEvent } from '../../../domain/webhooks/event-body.js';
import { matchesAny } from '../../../domain/webhooks/event-patterns.js';
import type { LoggedEvent } from '../../../domain/webhooks/logs/events.js';
import type { Subscription } from '../../../domain/webhooks/subscriptions/subscription.js';
import { newNeighbouringId, newPublicId } from '../../../identifiers/public-id.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { takeTurn } from '../../dialects/turns.js';
import type { Schema } from '../../schema.js';
import { isPostgres } from '../statements/dialect.js';
import { keptStatement } from '../statements/kept-statement.js';
import { keptInsertion } from '../statements/plain-writes.js';
import type { NoteDue } from '../unit-of-work.js';

type Recorded = Pick<LoggedEvent, 'seq' | 'id' | 'type' | 'clientId'>;

interface Receiver extends Pick<Subscription, 'id' | 'eventTypes' | 'clientIds'> {
  status: string;
}

/**
 * Locks the subscriptions on PostgreSQL: a disabling sees these deliveries, or this write sees it. Notes
 * about receivers do not wait for it: writes of many callers would keep them out.
 */
const receiversOn = keptStatement((db, { instanceId }: { instanceId: string }) => {
  const query = db
    .selectFrom('subscriptions as subscription')
    .innerJoin('instance_integrations as connection', 'connection.id', 'subscription.instance_integration_id')
    .where('subscription.instance_id', '=', instanceId)
    .where('subscription.status', '<>', 'DELETED')
    .where('connection.configured_at', 'is not', null)
    .orderBy('subscription.id')
    .select([
      'subscription.id',
      'subscription.status',
      'subscription.event_types',
      'subscription.client_ids',
    ]);
  return isPostgres(db) ? query.forKeyShare('subscription') : query;
});

const deliveryInsertion = keptInsertion<'deliveries', ReturnType<typeof deliveryOf>>('deliveries');

const eventInsertion = keptStatement(
  (db, row: Omit<Insertable<Schema['events']>, 'seq' | 'is_test' | 'sequence'>) =>
    db
      .insertInto('events')
      .values({ ...row, sequence: nextSequence(row.entity_id, row.occurred_at) })
      .returning('seq'),
);

/** Called for an event that violates the contract of webhooks, which is a fault of this service. */
export type OnInvalidEvent = (type: EventType, fault: string) => void;

const refuseInvalidEvent: OnInvalidEvent = (type, fault) => {
  throw new Error(`The event ${type} violates its contract: ${fault}`);
};

/** Records the events of one transaction, and makes their deliveries. */
export class EventRecorder {
  readonly #receivers = new Map<string, readonly Receiver[]>();

  constructor(
    private readonly writer: Writer,
    private readonly now: number,
    private readonly origin: WriteOrigin,
    private readonly noteDue: NoteDue,
    private readonly onInvalidEvent: OnInvalidEvent = refuseInvalidEvent,
  ) {}

  /** The receivers are fixed here, in the transaction of the change, which has locked the client. */
  async record<T extends EventType>(event: RecordedEvent<T>): Promise<void> {
    const { type, instanceId, clientId, entity, data } = event;
    const id = newPublicId('EventId');
    const fault = faultOfEvent(event, { id, occurredAt: this.now });
    if (fault !== undefined) {
      this.onInvalidEvent(type, fault);
    }
    // Last, so that the last placeholder in the text is the link's.
    const { links, ...payload } = data;
    const insertion = eventInsertion(this.writer, {
      id,
      type,
      occurred_at: this.now,
      instance_id: instanceId,
      client_id: clientId,
      entity_type: entity.type,
      entity_id: entity.id,
      data: JSON.stringify({ ...payload, links }),
      request_id: this.origin.requestId ?? null,
      traceparent: this.origin.traceparent ?? null,
    });
    const [{ rows }, receivers] = await Promise.all([insertion, this.#receiversOn(instanceId)]);
    const [{ seq }] = rows as [{ seq: number }];
    await this.#deliver({ seq, id, type, clientId }, receivers);
  }

  async #deliver(event: Recorded, receivers: readonly Receiver[]): Promise<void> {
    const rows = receivers
      .filter((receiver) => receives(receiver, event))
      .map((receiver) => deliveryOf(event, receiver, this.now));
    if (rows.length === 0) {
      return;
    }
    await deliveryInsertion(camelCased(this.writer), rows);
    const due = rows.filter(({ status }) => status === 'PENDING');
    this.noteDue(new Set(due.map((row) => row.subscriptionId)));
  }

  /** Read once per transaction, which may record thousands of events. */
  async #receiversOn(instanceId: string): Promise<readonly Receiver[]> {
    const present = this.#receivers.get(instanceId);
    if (present) {
      return present;
    }
    takeTurn(this.writer, `receivers on ${instanceId}`);
    const { rows } = await receiversOn(this.writer, { instanceId });
    const receivers = rows.map(({ id, status, event_types, client_ids }) => ({
      id: id as SubscriptionId,
      status,
      eventTypes: listOf(event_types),
      clientIds: listOf(client_ids),
    }));
    this.#receivers.set(instanceId, receivers);
    return receivers;
  }
}

function deliveryOf(event: Recorded, { id, status }: Receiver, now: number) {
  return {
    id: newNeighbouringId('DeliveryId'),
    subscriptionId: id,
    eventSeq: event.seq,
    eventId: event.id,
    eventType: event.type,
    origin: 'EVENT' as const,
    status: status === 'ACTIVE' ? ('PENDING' as const) : ('HELD' as const),
    attemptsBegun: 0,
    createdAt: now,
  };
}

function receives({ eventTypes, clientIds }: Receiver, { type, clientId }: Recorded): boolean {
  return (clientIds.length === 0 || clientIds.includes(clientId)) && matchesAny(eventTypes, type);
}

const MAX_KEPT_LISTS = 10_000;
const lists = new Map<string, readonly string[]>();

/** Parsed once, because an event is matched against many of them. */
function listOf(json: string): readonly string[] {
  const present = lists.get(json);
  if (present) {
    return present;
  }
  if (lists.size >= MAX_KEPT_LISTS) {
    lists.clear();
  }
  const list = JSON.parse(json) as string[];
  lists.set(json, list);
  return list;
}

/**
 * The sequence of the next event of an entity: the present time or, if an event has this or a greater number,
 * one more than the greatest. A time, so that it also grows after a purge and discloses nothing about other
 * events. Events of earlier releases have no sequence: their time counts. The entity must be locked.
 */
export function nextSequence(entityId: string, now: number): RawBuilder<number> {
  return sql`(
    select max(next) from (
      select cast(${now} as bigint) as next
      union all select max(sequence) + 1 from events where entity_id = ${entityId} and sequence >= ${now}
      union all select max(occurred_at) + 1 from events where entity_id = ${entityId} and sequence is null and occurred_at >= ${now}
    ) as candidates
  )`;
}
