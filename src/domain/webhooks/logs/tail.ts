import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../clock.js';
import { type Delivery, type DeliveryAttempt, UNTRIED } from '../deliveries.js';
import { matchesAny } from '../event-patterns.js';
import type { DeliveryFilter } from './deliveries.js';
import { LATEST_COMMIT_MS, type LogEntry, type LogEntryRows, NewLogEntries } from './log-entries.js';

export type TailFilter = Pick<DeliveryFilter, 'subscriptionId' | 'instanceIntegrationId' | 'eventTypes'>;

interface TailOptions {
  rows: LogEntryRows;
  clock: Clock;
  /** Aborted when the watcher disconnects or the server drains. */
  signal: AbortSignal;
  /** Between two looks; rejects when aborted. */
  pause?: (signal: AbortSignal) => Promise<unknown>;
}

export interface TailEntry {
  delivery: Delivery;
  /** Undefined for a new delivery. */
  attempt: DeliveryAttempt | undefined;
  /** How many entries before it were omitted. */
  skipped: number;
}

const LOOK_EVERY_MS = 250;
/** More per look is omitted: people cannot follow it, and the domain has other work. */
const MOST_PER_LOOK = 250;
/** A slower watcher skips to the present. */
const TOO_SLOW_MS = 10_000;

/** Reports log entries from `since` or now on, until the signal is aborted. Omits none of the past. */
export async function* tailDeliveries(
  filter: TailFilter,
  since: number | undefined,
  {
    rows,
    clock,
    signal,
    pause = (aborted) => delay(LOOK_EVERY_MS, undefined, { signal: aborted }),
  }: TailOptions,
): AsyncGenerator<TailEntry> {
  const logEntries = new NewLogEntries(rows, since ?? clock());
  let skipped = 0;
  let caughtUp = false;
  for (let lookedAt: number | undefined; !signal.aborted; ) {
    const now = clock();
    const slow = lookedAt !== undefined && now - lookedAt > TOO_SLOW_MS;
    const shownFrom = caughtUp && slow ? now - LATEST_COMMIT_MS : Number.NEGATIVE_INFINITY;
    caughtUp ||= lookedAt !== undefined && !slow;
    lookedAt = now;
    let room = caughtUp ? MOST_PER_LOOK : Number.POSITIVE_INFINITY;
    for await (const page of logEntries.upTo(now)) {
      if (room === 0 && takesAll(filter)) {
        skipped += page.length;
        continue;
      }
      for (const { at, ...entry } of await entriesOf(rows, page, filter)) {
        if (signal.aborted) {
          return;
        }
        if (at < shownFrom || room === 0) {
          skipped += 1;
        } else {
          room -= 1;
          yield { ...entry, skipped };
          skipped = 0;
        }
      }
    }
    await pause(signal).catch(() => undefined);
  }
}

type TimedEntry = Omit<TailEntry, 'skipped'> & { at: number };

/** Without those that are filtered out or purged. */
async function entriesOf(
  rows: LogEntryRows,
  page: readonly LogEntry[],
  filter: TailFilter,
): Promise<TimedEntry[]> {
  const deliveries = await rows.findAll([...new Set(page.map(({ deliverySeq }) => deliverySeq))]);
  const watched = page.flatMap((entry) => {
    const delivery = deliveries.get(entry.deliverySeq);
    return delivery && isWatched(delivery, filter) ? [{ ...entry, delivery }] : [];
  });
  const tried = watched.filter(({ attemptNumber }) => attemptNumber > 0);
  const attempts = await rows.attemptsOfAll([...new Set(tried.map(({ deliverySeq }) => deliverySeq))]);
  return watched.flatMap(({ at, deliverySeq, delivery, attemptNumber }): TimedEntry[] => {
    if (attemptNumber === 0) {
      return [{ at, delivery: asMade(delivery), attempt: undefined }];
    }
    const attempt = attempts.get(deliverySeq)?.find(({ number }) => number === attemptNumber);
    return attempt ? [{ at, delivery, attempt }] : [];
  });
}

function takesAll({ subscriptionId, instanceIntegrationId, eventTypes }: TailFilter): boolean {
  return subscriptionId === undefined && instanceIntegrationId === undefined && eventTypes.length === 0;
}

function isWatched(
  { subscriptionId, instanceIntegrationId, eventType }: Delivery,
  filter: TailFilter,
): boolean {
  return (
    (filter.subscriptionId === undefined || filter.subscriptionId === subscriptionId) &&
    (filter.instanceIntegrationId === undefined || filter.instanceIntegrationId === instanceIntegrationId) &&
    (filter.eventTypes.length === 0 || matchesAny(filter.eventTypes, eventType))
  );
}

/** Its attempts are separate entries, and the first has often ended by now. */
function asMade(delivery: Delivery): Delivery {
  return delivery.attemptsBegun === 0 ? delivery : { ...delivery, ...UNTRIED };
}
