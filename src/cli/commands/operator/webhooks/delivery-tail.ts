import {
  AttemptOutcome,
  type Delivery,
  type DeliveryAttempt,
  DeliveryStatus,
  type TailDeliveriesRequest,
  type TailDeliveriesResponse,
} from '../../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { stopSignal } from '../../../stop-signals.js';
import { isLost, untilNextTry } from '../../lost-connection.js';
import { print, say } from '../../output/print.js';
import { asJsonLine, printableLine } from '../../output/printable.js';
import { asTime, asWord } from '../../output/table.js';
import type { Action, Session } from '../session.js';
import { asMilliseconds, outcomeWord } from './delivery-facts.js';

/** The width of the longest type of an event, so that columns align. */
export const TYPE_WIDTH = 'organization_location.created'.length;

/** Entries already printed, which a new connection may repeat. */
const REMEMBERED = 1_000;

export const tail: Action = async (
  session,
  _,
  { subscription, instanceIntegration, types = [], since, json },
) => {
  const stop = stopSignal().signal;
  const request = {
    subscriptionId: subscription,
    instanceIntegrationId: instanceIntegration,
    eventTypes: types,
    since,
  };
  // A stream without messages does not show that the service answers.
  await session.webhooks.listDeliveries({ ...request, statuses: [], pageSize: 1, pageToken: '' });
  for await (const entry of entries(session, request, stop)) {
    if (json) {
      print(asJsonLine(entry));
      continue;
    }
    if (entry.skipped > 0) {
      say(`Left out here, because they were too many to follow, or read too slowly: ${entry.skipped}.`);
    }
    print(lineOf(entry));
  }
  return undefined;
};

/** Also lists what happened while the connection was away, as far as it is stored. */
async function* entries(
  { webhooks }: Session,
  request: TailDeliveriesRequest,
  stop: AbortSignal,
): AsyncGenerator<TailDeliveriesResponse> {
  const options = { deadlineMs: Number.POSITIVE_INFINITY, signal: stop };
  const told = new Set<string>();
  let latest = request.since ?? new Date();
  let since = request.since;
  let isAway = false;
  while (!stop.aborted) {
    try {
      for await (const entry of webhooks.tailDeliveries({ ...request, since }, options)) {
        isAway = false;
        const at = timeOf(entry);
        latest = at && at > latest ? at : latest;
        if (isNew(entry, told)) {
          yield entry;
        }
      }
    } catch (error) {
      if (!stop.aborted && !isLost(error)) {
        throw error;
      }
    }
    if (!isAway && !stop.aborted) {
      say('The connection was lost. Trying until it is back; Ctrl-C ends.');
    }
    isAway = true;
    since = latest;
    await untilNextTry(stop);
  }
}

function isNew({ delivery, attempt }: TailDeliveriesResponse, told: Set<string>): boolean {
  // Without the present status of the delivery, which may differ when the same entry is repeated.
  const what = attempt ? `${attempt.number} ${attempt.outcome}` : delivery?.status;
  const key = `${delivery?.id} ${what}`;
  if (told.has(key)) {
    return false;
  }
  told.add(key);
  if (told.size > REMEMBERED) {
    told.delete(told.values().next().value as string);
  }
  return true;
}

function lineOf(entry: TailDeliveriesResponse): string {
  const delivery = entry.delivery as Delivery;
  return [
    asTime(timeOf(entry) ?? new Date()),
    delivery.id,
    delivery.eventType.padEnd(TYPE_WIDTH),
    delivery.subscriptionId,
    entry.attempt ? attemptWords(delivery, entry.attempt) : changeWords(delivery),
  ].join('  ');
}

function attemptWords(delivery: Delivery, attempt: DeliveryAttempt): string {
  const { number, outcome, httpStatus, durationMs, message } = attempt;
  const answer = httpStatus === undefined ? outcomeWord(outcome) : String(httpStatus);
  const words = `attempt ${number}: ${answer} in ${asMilliseconds(durationMs)}`;
  if (outcome === AttemptOutcome.SUCCEEDED) {
    return words;
  }
  const failed = `${words}; ${printableLine(message)}`;
  // The delivery is as of now, so it tells only what followed its last attempt.
  return number < delivery.attemptsBegun ? failed : `${failed} (${nextWords(delivery)})`;
}

function nextWords({ nextAttemptAt, status }: Delivery): string {
  return nextAttemptAt ? `next ${asTime(nextAttemptAt)}` : asWord(status, 'DELIVERY_STATUS_');
}

function changeWords({ status, origin, attemptsBegun }: Delivery): string {
  const isMade = attemptsBegun === 0 && status === DeliveryStatus.PENDING;
  return isMade ? `made (${asWord(origin, 'DELIVERY_ORIGIN_')})` : asWord(status, 'DELIVERY_STATUS_');
}

/** Undefined for a change without a time. */
function timeOf({ delivery, attempt }: TailDeliveriesResponse): Date | undefined {
  if (attempt?.startedAt) {
    return new Date(attempt.startedAt.getTime() + (attempt.durationMs ?? 0));
  }
  return delivery?.endedAt ?? (delivery?.attemptsBegun === 0 ? delivery.createdAt : undefined);
}
