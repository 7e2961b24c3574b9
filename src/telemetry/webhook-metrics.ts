import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { DURATION_BUCKETS_S } from './metrics.js';
import { sharedReading } from './shared-reading.js';

/** A delivery may wait for as long as the service is down. */
const WAIT_BUCKETS_S = [...DURATION_BUCKETS_S.slice(2), 30, 60, 300, 1_800, 7_200];

export type AttemptMetrics = ReturnType<typeof attemptMetrics>;

/** Counts first attempts and retries in plain maps, because there are thousands per second. */
export function attemptMetrics(registry: Registry) {
  const ended = new Map<string, Map<string, number>>();
  let runningCount = 0;
  new Gauge({
    name: 'webhook_attempts_running',
    help: 'Webhook delivery attempts in progress.',
    registers: [registry],
    collect() {
      this.set(runningCount);
    },
  });
  new Counter({
    name: 'webhook_attempts_total',
    help: 'Completed webhook delivery attempts, by event type and outcome.',
    labelNames: ['event_type', 'outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [eventType, counts] of ended) {
        for (const [outcome, count] of counts) {
          this.inc({ event_type: eventType, outcome }, count);
        }
      }
    },
  });
  const duration = new Histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Duration of webhook delivery attempts, from name resolution to the end of the response, by outcome.',
    labelNames: ['outcome'],
    buckets: [...DURATION_BUCKETS_S, 15],
    registers: [registry],
  });
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
  const registers = [registry];
  const lag = new Histogram({
    name: 'webhook_relay_lag_seconds',
    help: 'Time from the write of a delivery to the start of its first attempt.',
    buckets: WAIT_BUCKETS_S,
    registers,
  });
  const receipt = new Histogram({
    name: 'webhook_commit_to_receipt_seconds',
    help: 'Time from the write of a delivery to the response to its first attempt; excludes attempts without a response.',
    buckets: WAIT_BUCKETS_S,
    registers,
  });
  return {
    /** Read on each scrape. */
    slots: (read: () => { free: number; total: number }) => {
      new Gauge({
        name: 'webhook_slots_in_use',
        help: 'Slots in use: delivery attempts in progress, and completed attempts whose result is not recorded yet.',
        registers,
        collect() {
          const { free, total } = read();
          this.set(total - free);
        },
      });
      new Gauge({
        name: 'webhook_slots',
        help: 'All slots for delivery attempts of this worker (WEBHOOK_SENDS).',
        registers,
        collect() {
          this.set(read().total);
        },
      });
    },
    /** Records how long after the write of its delivery a first attempt began. */
    begun: (waitedMs: number) => lag.observe(waitedMs / 1_000),
    /** Records how long after the write of its delivery a first attempt got a response. */
    received: (waitedMs: number) => receipt.observe(waitedMs / 1_000),
  };
}

/** The returned function is called after a commit, with the number of deliveries that ended in it. */
export function deliveryEndCounter(registry: Registry): (status: string, count: number) => void {
  const counter = new Counter({
    name: 'webhook_deliveries_ended_total',
    help: 'Completed deliveries, by status: DELIVERED, or EXHAUSTED after the last attempt or when the service gives up. Each counts once: a late success of an exhausted one does not.',
    labelNames: ['status'],
    registers: [registry],
  });
  // A rate needs a sample from before the first end.
  for (const status of ['DELIVERED', 'EXHAUSTED']) {
    counter.inc({ status }, 0);
  }
  return (status, count) => counter.inc({ status }, count);
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
  new Gauge({
    name: 'webhook_outbox_deliveries',
    help: 'Pending deliveries, by whether the first attempt has begun, counted up to 10,000.',
    labelNames: ['attempt'],
    registers: [registry],
    async collect() {
      const found = await reading();
      this.reset();
      for (const [attempt, count] of Object.entries(found?.counts ?? {})) {
        this.set({ attempt }, count);
      }
    },
  });
  new Gauge({
    name: 'webhook_outbox_oldest_age_seconds',
    help: 'Age of the oldest pending delivery (0 if there is none), by whether its first attempt has begun and whether its subscription is failing. If the subscription changed later than the delivery was written, the age counts from that change.',
    labelNames: ['attempt', 'subscription'],
    registers: [registry],
    async collect() {
      const found = await reading();
      this.reset();
      if (found) {
        for (const attempt of ['first', 'later'] as const) {
          for (const isFailing of [false, true]) {
            const of = found.oldest.find((one) => one.stage === attempt && one.isFailing === isFailing);
            const ageMs = of === undefined ? 0 : Math.max(0, clock() - of.since);
            this.set({ attempt, subscription: isFailing ? 'failing' : 'well' }, ageMs / 1_000);
          }
        }
      }
    },
  });
}
