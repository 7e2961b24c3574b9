import { type Insertable, type RawBuilder, sql } from 'kysely';
import type { EventType } from '../../../../generated/asyncapi/events.js';
import type { EventId, SubscriptionId } from '../../../../generated/ids.js';
import type { RecordedEvent } from '../../../domain/platform/unit-of-work.js';
import type { WriteOrigin } from '../../../domain/unit-of-work.js';
import { faultOfEvent } from '../../../domain/webhooks/event-body.js';
import { matchesAny } from '../../../domain/webhooks/event-patterns.js';
import type { LoggedEvent } from '../../../domain/webhooks/logs/events.js';
import type { Subscription } from '../../../domain/webhooks/subscriptions/subscription.js';
import { newNeighbouringId, newPublicId } from '../../../identifiers/public-id.js';
import { camelCased, type Rows, type Tables, type Writer } from '../../database.js';
import { executeCompiled, postCompiled } from '../../dialects/direct-statements.js';
import { takeTurn } from '../../dialects/turns.js';
import { isPostgres } from '../statements/dialect.js';
import { keptStatement } from '../statements/kept-statement.js';
import { keptInsertion } from '../statements/plain-writes.js';
import type { NoteDue } from '../unit-of-work.js';

type Recorded = Pick<LoggedEvent, 'seq' | 'id' | 'type' | 'clientId'>;

interface Receiver extends Pick<Subscription, 'id' | 'eventTypes' | 'clientIds'> {
  status: string;
}

/**
 * Locks the subscriptions on PostgreSQL: a change by an operator sees these deliveries, or this write sees
 * it. Results do not wait for it: writes of many callers would keep them out.
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

const deliveryInsertion = keptInsertion(
  (db, rows: readonly ReturnType<typeof deliveryOf>[]) => db.insertInto('deliveries').values(rows),
  postCompiled,
);

type EventRow = Required<Omit<Insertable<Tables['events']>, 'seq' | 'isTest' | 'sequence'>>;

const eventInsertion = keptInsertion(
  (db, rows: readonly EventRow[]) =>
    db
      .insertInto('events')
      .values(rows.map((row) => ({ ...row, sequence: nextSequence(row.entityId, row.occurredAt) })))
      .returning(['id', 'seq']),
  executeCompiled<{ id: EventId; seq: number }>,
);

/** Called for an event that violates the contract of webhooks, which is a fault of this service. */
export type OnInvalidEvent = (type: EventType, fault: string) => void;

const refuseInvalidEvent: OnInvalidEvent = (type, fault) => {
  throw new Error(`The event ${type} violates its contract: ${fault}`);
};

/** An event may have thousands of deliveries, whose rows are in memory together. */
const MOST_AT_ONCE = 64;

/** Records the events of one transaction, and makes their deliveries. */
export class EventRecorder {
  readonly #db: Rows;
  readonly #receivers = new Map<string, readonly Receiver[]>();

  constructor(
    private readonly writer: Writer,
    private readonly now: number,
    private readonly origin: WriteOrigin,
    private readonly noteDue: NoteDue,
    private readonly onInvalidEvent: OnInvalidEvent = refuseInvalidEvent,
  ) {
    this.#db = camelCased(writer);
  }

  /**
   * The receivers are fixed here, in the transaction of the change, which has locked the client. No two of
   * the events may be about the same entity.
   */
  async record<T extends EventType>(events: readonly RecordedEvent<T>[]): Promise<void> {
    for (let from = 0; from < events.length; from += MOST_AT_ONCE) {
      await this.#recordAtOnce(events.slice(from, from + MOST_AT_ONCE));
    }
  }

  async #recordAtOnce<T extends EventType>(events: readonly RecordedEvent<T>[]): Promise<void> {
    const rows = events.map((event) => this.#rowOf(event));
    const instanceIds = new Set(rows.map(({ instanceId }) => instanceId));
    const [inserted] = await Promise.all([
      eventInsertion(this.#db, rows),
      Promise.all([...instanceIds].map((id) => this.#readReceivers(id))),
    ]);
    const seqs = new Map(inserted.flatMap((answer) => answer.rows.map(({ id, seq }) => [id, seq])));
    const deliveries = rows.flatMap(({ id, type, instanceId, clientId }) => {
      const event = { seq: seqs.get(id) as number, id, type, clientId };
      const receivers = this.#receivers.get(instanceId) ?? [];
      return receivers
        .filter((receiver) => receives(receiver, event))
        .map((receiver) => deliveryOf(event, receiver, this.now));
    });
    await deliveryInsertion(this.#db, deliveries);
    const due = deliveries.filter(({ status }) => status === 'PENDING');
    if (due.length > 0) {
      this.noteDue(new Set(due.map((row) => row.subscriptionId)));
    }
  }

  #rowOf<T extends EventType>(event: RecordedEvent<T>) {
    const { type, instanceId, clientId, entity, data } = event;
    const id = newPublicId('EventId');
    const fault = faultOfEvent(event, { id, occurredAt: this.now });
    if (fault !== undefined) {
      this.onInvalidEvent(type, fault);
    }
    // Last, so that the last placeholder in the text is the link's.
    const { links, ...payload } = data;
    return {
      id,
      type,
      occurredAt: this.now,
      instanceId,
      clientId,
      entityType: entity.type,
      entityId: entity.id,
      data: JSON.stringify({ ...payload, links }),
      requestId: this.origin.requestId ?? null,
      traceparent: this.origin.traceparent ?? null,
    };
  }

  /** Once per transaction, which may record thousands of events. */
  async #readReceivers(instanceId: string): Promise<void> {
    if (this.#receivers.has(instanceId)) {
      return;
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
 * events. The entity must be locked.
 */
export function nextSequence(entityId: string, now: number): RawBuilder<number> {
  return sql`(
    select coalesce(max(sequence) + 1, cast(${now} as bigint)) from events
    where entity_id = ${entityId} and sequence >= ${now}
  )`;
}
