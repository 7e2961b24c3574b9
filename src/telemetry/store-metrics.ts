import type { Registry } from 'prom-client';
import { counter, gauge } from './metric-list.js';
import { sharedReading } from './shared-reading.js';

/** The returned function is called after rows were removed. */
export function purgedRowsCounter(registry: Registry): (kind: string, rows: number) => void {
  const removed = counter('purge_rows_removed_total', registry);
  return (kind, rows) => removed.inc({ kind }, rows);
}

/** Every domain on one database reports the same. No samples where `sharedReading` gives none. */
export function purgeLagGauge(registry: Registry, read: ReadKinds): void {
  gaugeOfKinds('purge_lag_seconds', registry, read);
}

/** Every domain on one database reports the same. */
export function nextExpiryGauge(registry: Registry, read: ReadKinds): void {
  gaugeOfKinds('next_expiry_timestamp_seconds', registry, read);
}

/** Milliseconds by kind. */
type ReadKinds = () => Promise<Partial<Record<string, number>>>;

function gaugeOfKinds(
  name: 'purge_lag_seconds' | 'next_expiry_timestamp_seconds',
  registry: Registry,
  read: ReadKinds,
): void {
  const reading = sharedReading(read);
  gauge(name, registry, async (made) => {
    const found = await reading();
    made.reset();
    for (const [kind, ms] of Object.entries(found ?? {})) {
      made.set({ kind }, Number(ms) / 1_000);
    }
  });
}

/** Every domain on one database reports the same. */
export function keyStepLagGauge(registry: Registry, read: () => Promise<number>): void {
  gaugesOf(registry, read, { signing_key_step_lag_seconds: (ms) => ms / 1_000 });
}

interface StoreSize {
  databaseBytes: number;
  /** Pages of the database that are free for further rows. */
  freeBytes: number;
  /** The write-ahead log. */
  logBytes: number;
}

/** No samples with PostgreSQL, which has monitoring of its own. */
export function storeSizeGauges(registry: Registry, read: () => Promise<StoreSize | undefined>): void {
  gaugesOf(registry, read, {
    store_database_bytes: ({ databaseBytes }) => databaseBytes,
    store_free_bytes: ({ freeBytes }) => freeBytes,
    store_log_bytes: ({ logBytes }) => logBytes,
  });
}

/** Every domain on one database reports the same. No samples with SQLite. */
export function heldBackGauges(
  registry: Registry,
  read: () => Promise<{ changes: number; ageMs: number } | undefined>,
): void {
  gaugesOf(registry, read, {
    changes_held_back: ({ changes }) => changes,
    changes_held_back_age_seconds: ({ ageMs }) => ageMs / 1_000,
  });
}

/** Gauges that share a reading; without one they have no samples. */
function gaugesOf<T>(
  registry: Registry,
  read: () => Promise<T | undefined>,
  samples: { [Name in Parameters<typeof gauge>[0]]?: (found: T) => number },
): void {
  const reading = sharedReading(read);
  for (const [name, sampleOf] of Object.entries(samples)) {
    gauge(name as Parameters<typeof gauge>[0], registry, async (made) => {
      const found = await reading();
      if (found !== undefined) {
        made.set(sampleOf(found));
      } else {
        made.remove();
      }
    });
  }
}
