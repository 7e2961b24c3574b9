import type { SubscriptionId } from '../../../../generated/ids.js';
import { matchesAny } from '../../../domain/webhooks/event-patterns.js';
import type { LoggedEvent } from '../../../domain/webhooks/logs/events.js';
import type { Subscription } from '../../../domain/webhooks/subscriptions/subscription.js';
import { newNeighbouringId } from '../../../identifiers/public-id.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { takeTurn } from '../../dialects/turns.js';
import { isPostgres } from '../statements/dialect.js';
import { keptStatement } from '../statements/kept-statement.js';
import { keptInsertion } from '../statements/plain-writes.js';
import type { NoteDue } from '../unit-of-work.js';

type Recorded = Pick<LoggedEvent, 'seq' | 'id' | 'type' | 'instanceId' | 'clientId'>;

interface Receiver extends Pick<Subscription, 'id' | 'eventTypes' | 'clientIds'> {
  status: string;
}

/** Locks the subscriptions on PostgreSQL: a disabling sees these deliveries, or this write sees it. */
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
  return isPostgres(db) ? query.forShare('subscription') : query;
});

const insertion = keptInsertion<'deliveries', ReturnType<typeof deliveryOf>>('deliveries');

/** Makes the deliveries of the events of one transaction. */
export class FanOut {
  readonly #receivers = new Map<string, readonly Receiver[]>();

  constructor(
    private readonly writer: Writer,
    private readonly now: number,
    private readonly noteDue: NoteDue,
  ) {}

  async deliver(event: Recorded): Promise<void> {
    const receivers = (await this.receiversOn(event.instanceId)).filter((receiver) =>
      receives(receiver, event),
    );
    if (receivers.length === 0) {
      return;
    }
    const rows = receivers.map((receiver) => deliveryOf(event, receiver, this.now));
    await insertion(camelCased(this.writer), rows);
    const due = rows.filter(({ status }) => status === 'PENDING');
    this.noteDue(new Set(due.map((row) => row.subscriptionId)));
  }

  /** Read once per transaction, which may record thousands of events. */
  async receiversOn(instanceId: string): Promise<readonly Receiver[]> {
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
