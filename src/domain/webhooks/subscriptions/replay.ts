import type { EventId } from '../../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { inPieces } from '../../../fairness/pieces.js';
import type { Clock } from '../../clock.js';
import type { OperatorChanges, OperatorRows } from '../../operator/unit-of-work.js';
import type { UnitOfWork } from '../../unit-of-work.js';
import { matchesAny } from '../event-patterns.js';
import type { LoggedEvent } from '../logs/events.js';
import { type LogFilter, type LogPosition, logFilterViolations } from '../logs/page.js';
import { getSubscription, lockedReceiver, newDelivery } from './rows.js';
import type { Subscription } from './subscription.js';

export interface ReplayRequest extends LogFilter {
  subscriptionId: string;
  /** Includes acknowledged events. */
  includeDelivered: boolean;
  /** Continues after this event. */
  afterEventId?: string;
}

export interface ReplayProgress {
  createdDeliveries: number;
  /** The last event considered; undefined before the first. */
  lastEventId: EventId | undefined;
  done: boolean;
}

interface ReplayOptions {
  clock: Clock;
  /**
   * The start of the retention. Events from before it are left out: the deliveries that acknowledged them may
   * be gone, and receivers need not keep their ids.
   */
  keptSince: number;
  /** Aborted when the caller disconnects or the server drains; the replay then ends incomplete. */
  signal: AbortSignal;
}

/** Limits of a read and of a transaction, so that others get their turns. */
const EVENTS_PER_READ = 1_000;
const EVENTS_PER_WRITE = 200;

type Replay = ReplayRequest & { since: number; until: number };

/** Sends the events of a span to one subscription again, and reports progress after each batch. */
export async function* replayEvents(
  unitOfWork: UnitOfWork<OperatorChanges, OperatorRows>,
  request: ReplayRequest,
  { clock, keptSince, signal }: ReplayOptions,
): AsyncGenerator<ReplayProgress> {
  const since = Math.max(checkedSince(request), keptSince);
  const replay = { ...request, since, until: request.until ?? (await present(unitOfWork.rows, clock)) };
  await unitOfWork.run((changes) => lockedReceiver(changes, replay.subscriptionId));
  const start = await startOf(unitOfWork.rows, replay);
  const progress: ReplayProgress = { createdDeliveries: 0, lastEventId: undefined, done: false };
  try {
    for await (const batch of batchesOf(unitOfWork.rows, replay, start)) {
      const { wanted, last } = batch;
      if (wanted.length > 0) {
        const isFirst = progress.createdDeliveries === 0;
        progress.createdDeliveries += await unitOfWork.run((changes) =>
          sendAgain(changes, replay, wanted, isFirst),
        );
      }
      progress.lastEventId = last.id;
      yield { ...progress };
      if (signal.aborted) {
        return;
      }
    }
    progress.done = true;
  } finally {
    // Also after a disconnect or a failed batch, for the deliveries made before.
    const { createdDeliveries, lastEventId, done } = progress;
    const ended = {
      created_deliveries: String(createdDeliveries),
      ...(lastEventId === undefined ? {} : { last_event_id: lastEventId }),
      done: String(done),
    };
    await unitOfWork.run((changes) => recordReplay(changes, 'events.replayed', replay, ended));
  }
  yield { ...progress };
}

function checkedSince(request: ReplayRequest): number {
  const violations = logFilterViolations(request);
  if (request.since === undefined) {
    violations.add('since', 'must be set');
  }
  violations.throwIfAny();
  return request.since as number;
}

/** After all events until now, also those that are from before the clock was set back. */
async function present({ eventLog }: OperatorRows, clock: Clock): Promise<number> {
  const newest = await eventLog.page({ after: undefined, limit: 1 }, { eventTypes: [] });
  return Math.max(clock(), newest.rows[0]?.occurredAt ?? 0) + 1;
}

async function startOf({ eventLog }: OperatorRows, { since, afterEventId }: Replay): Promise<LogPosition> {
  const start = { createdAt: since, seq: 0 };
  if (afterEventId === undefined) {
    return start;
  }
  const after = await eventLog.find(afterEventId);
  if (!after) {
    throw new ServiceError(
      ErrorCode.EVENT_NOT_FOUND,
      'There is no such event to continue after. Start again without it: delivered events are left out unless you include them.',
    );
  }
  return after.occurredAt < since ? start : { createdAt: after.occurredAt, seq: after.seq };
}

interface Batch {
  wanted: LoggedEvent[];
  /** The last event considered for it. */
  last: LoggedEvent;
}

/** Reads without a transaction, because few events may match. The batch checks again when it is written. */
async function* batchesOf(rows: OperatorRows, replay: Replay, start: LogPosition): AsyncGenerator<Batch> {
  const following = inPieces(EVENTS_PER_READ, (limit, last?: LoggedEvent) => {
    const after = last ? { createdAt: last.occurredAt, seq: last.seq } : start;
    return rows.eventLog.following(after, replay.until, limit);
  });
  for await (const looked of following) {
    const subscription = await getSubscription(rows, replay.subscriptionId);
    let wanted: LoggedEvent[] = [];
    for (const [index, event] of looked.entries()) {
      if (isWanted(event, subscription, replay)) {
        wanted.push(event);
      }
      if (wanted.length === EVENTS_PER_WRITE || index === looked.length - 1) {
        yield { wanted, last: event };
        wanted = [];
      }
    }
  }
}

function isWanted(
  { type, instanceId, clientId }: LoggedEvent,
  subscription: Subscription,
  { eventTypes }: Replay,
): boolean {
  const { clientIds } = subscription;
  return (
    instanceId === subscription.instanceId &&
    matchesAny(subscription.eventTypes, type) &&
    (eventTypes.length === 0 || matchesAny(eventTypes, type)) &&
    (clientIds.length === 0 || clientIds.includes(clientId))
  );
}

/**
 * One batch, under the lock of the subscription. Returns the number of new deliveries. The first ones are
 * recorded with them: a domain that is killed does not record how the replay ended.
 */
async function sendAgain(
  changes: OperatorChanges,
  replay: Replay,
  events: readonly LoggedEvent[],
  isFirst: boolean,
): Promise<number> {
  const subscription = await lockedReceiver(changes, replay.subscriptionId);
  const ids = events.map(({ id }) => id);
  const present = await changes.eventLog.keep(ids);
  const onTheWay = new Set<EventId>();
  for (const { eventId, status } of await changes.deliveryLog.statusesOf(subscription.id, ids)) {
    // Pending ones arrive anyway; acknowledged ones are sent again only on request.
    if (status === 'PENDING' || (status === 'DELIVERED' && !replay.includeDelivered)) {
      onTheWay.add(eventId);
    }
  }
  const missed = events.filter(
    (event) => isWanted(event, subscription, replay) && present.has(event.id) && !onTheWay.has(event.id),
  );
  if (missed.length > 0) {
    const missedIds = missed.map(({ id }) => id);
    await changes.deliveryLog.cancelHeld(subscription.id, missedIds, changes.now);
    await changes.deliveries.insert(
      missed.map((event) => newDelivery(subscription, event, 'REPLAY', changes.now)),
    );
    if (isFirst) {
      await recordReplay(changes, 'events.replay_begun', replay);
    }
  }
  return missed.length;
}

function recordReplay(
  changes: OperatorChanges,
  type: 'events.replay_begun' | 'events.replayed',
  { subscriptionId, since, until, eventTypes, includeDelivered, afterEventId }: Replay,
  ended: Record<string, string> = {},
): Promise<void> {
  return changes.audit(changes.actor, {
    type,
    subject: { type: 'subscription', id: subscriptionId },
    attributes: {
      since: new Date(since).toISOString(),
      until: new Date(until).toISOString(),
      ...(eventTypes.length > 0 ? { event_types: eventTypes.join(' ') } : {}),
      include_delivered: String(includeDelivered),
      ...(afterEventId === undefined ? {} : { after_event_id: afterEventId }),
      ...ended,
    },
  });
}
