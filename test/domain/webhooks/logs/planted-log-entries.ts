import type {
  DeliveryId,
  EventId,
  InstanceIntegrationId,
  SubscriptionId,
} from '../../../../generated/ids.js';
import { type Delivery, type DeliveryAttempt, UNTRIED } from '../../../../src/domain/webhooks/deliveries.js';
import type { LogEntry, LogEntryRows } from '../../../../src/domain/webhooks/logs/log-entries.js';

export interface PlantedLogEntry extends LogEntry {
  /** From when on it is seen. */
  committedAt: number;
  delivery?: Partial<Delivery>;
}

/** The port over a list that may grow, as it is committed now. */
export function logEntryRows(planted: readonly PlantedLogEntry[], now: () => number): LogEntryRows {
  const keyOf = ({ at, deliverySeq, attemptNumber }: LogEntry) =>
    `${String(at).padStart(16, '0')} ${String(deliverySeq).padStart(16, '0')} ${attemptNumber}`;
  return {
    happenedIn: async ({ from, to }, after, limit) =>
      planted
        .filter((one) => one.committedAt <= now() && one.at >= from && one.at <= to)
        .filter((one) => after === undefined || keyOf(one) > keyOf(after))
        .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
        .slice(0, limit),
    findAll: async (seqs) =>
      new Map(
        seqs.flatMap((seq) => {
          const found = planted.find(({ deliverySeq }) => deliverySeq === seq);
          return found ? [[seq, deliveryOf(found)]] : [];
        }),
      ),
    attemptsOfAll: async (seqs) =>
      new Map(
        seqs.map((seq) => [seq, planted.filter(({ deliverySeq }) => deliverySeq === seq).flatMap(attemptOf)]),
      ),
  };
}

function deliveryOf({ at, deliverySeq, delivery }: PlantedLogEntry): Delivery {
  return {
    id: plantedId(deliverySeq),
    subscriptionId: 'whs_1' as SubscriptionId,
    instanceIntegrationId: 'iin_1' as InstanceIntegrationId,
    eventId: 'evt_1' as EventId,
    eventType: 'user.updated',
    origin: 'EVENT',
    ...UNTRIED,
    createdAt: at,
    ...delivery,
  };
}

/** What the delivery at this place is called unless told otherwise. */
export function plantedId(deliverySeq: number): DeliveryId {
  return `whd_${String(deliverySeq).padStart(6, '0')}`;
}

function attemptOf({ at, attemptNumber }: PlantedLogEntry): DeliveryAttempt[] {
  if (attemptNumber === 0) {
    return [];
  }
  const answer = { durationMs: 3, httpStatus: 204, message: null, responseStart: null };
  return [{ number: attemptNumber, startedAt: at - 3, endedAt: at, outcome: 'SUCCEEDED', ...answer }];
}
