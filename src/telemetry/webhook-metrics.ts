import type { Registry } from 'prom-client';
import { counter, DURATION_BUCKETS_S, gauge, histogram } from './metric-list.js';
import { sharedReading } from './shared-reading.js';

/** A delivery may wait for as long as the service is down. */
const WAIT_BUCKETS_S = [...DURATION_BUCKETS_S.slice(2), 30, 60, 300, 1_800, 7_200];

export type AttemptMetrics = ReturnType<typeof attemptMetrics>;

/** Counts first attempts and retries in plain maps, because there are thousands per second. */
export function attemptMetrics(registry: Registry) {
  const ended = new Map<string, Map<string, number>>();
  let runningCount = 0;
  gauge('webhook_attempts_running', registry, (made) => made.set(runningCount));
  counter('webhook_attempts_total', registry, (made) => {
    made.reset();
    for (const [eventType, counts] of ended) {
      for (const [outcome, count] of counts) {
        made.inc({ event_type: eventType, outcome }, count);
      }
    }
  });
  const duration = histogram('webhook_attempt_duration_seconds', registry, [...DURATION_BUCKETS_S, 15]);
  return {
    begun: () => {
      runningCount += 1;
    },
    ended: (eventType: string, outcome: string, durationMs: number) => {
      runningCount -= 1;
      const counts = ended.get(eventType) ?? new Map<string, number>();
      ended.set(eventType, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
      duration.observe({ outcome }, durationMs / 1_000);
    },
  };
}

export type RelayMetrics = ReturnType<typeof relayMetrics>;

export function relayMetrics(registry: Registry) {
  const lag = histogram('webhook_relay_lag_seconds', registry, WAIT_BUCKETS_S);
  const receipt = histogram('webhook_commit_to_receipt_seconds', registry, WAIT_BUCKETS_S);
  return {
    /** Read on each scrape. */
    slots: (read: () => { free: number; total: number }) => {
      gauge('webhook_slots_in_use', registry, (made) => {
        const { free, total } = read();
        made.set(total - free);
      });
      gauge('webhook_slots', registry, (made) => made.set(read().total));
    },
    /** Records how long after the write of its delivery a first attempt began. */
    begun: (waitedMs: number) => lag.observe(waitedMs / 1_000),
    /** Records how long after the write of its delivery a first attempt got a response. */
    received: (waitedMs: number) => receipt.observe(waitedMs / 1_000),
  };
}

/** The returned function is called after a commit, with the number of deliveries that ended in it. */
export function deliveryEndCounter(registry: Registry): (status: string, count: number) => void {
  const ended = counter('webhook_deliveries_ended_total', registry);
  // A rate needs a sample from before the first end.
  for (const status of ['DELIVERED', 'EXHAUSTED']) {
    ended.inc({ status }, 0);
  }
  return (status, count) => ended.inc({ status }, count);
}

/** What the domain reports about deliveries that wait in the database. */
export interface OutboxReading {
  counts: { first: number; later: number };
  oldest: { stage: 'first' | 'later'; isFailing: boolean; since: number }[];
}

/** Every domain on one database reports the same. No samples where `sharedReading` gives none. */
export function outboxMetrics(
  registry: Registry,
  read: () => Promise<OutboxReading>,
  /** The clock of the database, because `read` returns its times. */
  clock: () => number,
): void {
  const reading = sharedReading(read);
  gauge('webhook_outbox_deliveries', registry, async (made) => {
    const found = await reading();
    made.reset();
    for (const [attempt, count] of Object.entries(found?.counts ?? {})) {
      made.set({ attempt }, count);
    }
  });
  gauge('webhook_outbox_oldest_age_seconds', registry, async (made) => {
    const found = await reading();
    made.reset();
    if (found) {
      for (const attempt of ['first', 'later'] as const) {
        for (const isFailing of [false, true]) {
          const of = found.oldest.find((one) => one.stage === attempt && one.isFailing === isFailing);
          const ageMs = of === undefined ? 0 : Math.max(0, clock() - of.since);
          made.set({ attempt, subscription: isFailing ? 'failing' : 'well' }, ageMs / 1_000);
        }
      }
    }
  });
}
