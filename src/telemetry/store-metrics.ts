import { Counter, Gauge, type Registry } from 'prom-client';
import { sharedReading } from './shared-reading.js';

/** The returned function is called after rows were removed. */
export function purgedRowsCounter(registry: Registry): (kind: string, rows: number) => void {
  const counter = new Counter({
    name: 'purge_rows_removed_total',
    help: 'Rows removed because they were past their retention, by kind.',
    labelNames: ['kind'],
    registers: [registry],
  });
  return (kind, rows) => counter.inc({ kind }, rows);
}

/** Every domain on one database reports the same. No samples where `sharedReading` gives none. */
export function purgeLagGauge(registry: Registry, read: ReadKinds): void {
  const help =
    'For how long the oldest row that the purge can remove has been past its retention (0 if there is none), by kind.';
  gaugeOfKinds(registry, 'purge_lag_seconds', help, read);
}

/** Every domain on one database reports the same. */
export function nextExpiryGauge(registry: Registry, read: ReadKinds): void {
  const help =
    'When the next key, token or secret expires, or when the next failing webhook subscription is disabled, in seconds since 1970, by kind.';
  gaugeOfKinds(registry, 'next_expiry_timestamp_seconds', help, read);
}

/** Milliseconds by kind. */
type ReadKinds = () => Promise<Partial<Record<string, number>>>;

function gaugeOfKinds(registry: Registry, name: string, help: string, read: ReadKinds): void {
  const reading = sharedReading(read);
  new Gauge({
    ...{ name, help, labelNames: ['kind'], registers: [registry] },
    async collect() {
      const found = await reading();
      this.reset();
      for (const [kind, ms] of Object.entries(found ?? {})) {
        this.set({ kind }, Number(ms) / 1_000);
      }
    },
  });
}

/** Every domain on one database reports the same. */
export function keyStepLagGauge(registry: Registry, read: () => Promise<number>): void {
  gaugesOf(registry, read, [
    [
      'signing_key_step_lag_seconds',
      'For how long the next step of the signing keys has been due (0 if none is): to publish a successor, to record that it signs, or to retire a key.',
      (ms) => ms / 1_000,
    ],
  ]);
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
  gaugesOf(registry, read, [
    ['store_database_bytes', 'Size of the SQLite database file.', (size) => size.databaseBytes],
    [
      'store_free_bytes',
      'Part of the SQLite database file that is free for further rows.',
      (size) => size.freeBytes,
    ],
    ['store_log_bytes', 'Size of the write-ahead log of SQLite.', (size) => size.logBytes],
  ]);
}

/** Every domain on one database reports the same. No samples with SQLite. */
export function heldBackGauges(
  registry: Registry,
  read: () => Promise<{ changes: number; ageMs: number } | undefined>,
): void {
  gaugesOf(registry, read, [
    [
      'changes_held_back',
      'Committed changes that readers of the sequence of changes do not get yet, because an earlier transaction is open; at most 10,000 are counted. Only with PostgreSQL.',
      ({ changes }) => changes,
    ],
    [
      'changes_held_back_age_seconds',
      'Age of the oldest of these changes, 0 if there is none. Only with PostgreSQL.',
      ({ ageMs }) => ageMs / 1_000,
    ],
  ]);
}

/** Gauges that share a reading; without one they have no samples. */
function gaugesOf<T>(
  registry: Registry,
  read: () => Promise<T | undefined>,
  gauges: readonly [name: string, help: string, sampleOf: (found: T) => number][],
): void {
  const reading = sharedReading(read);
  for (const [name, help, sampleOf] of gauges) {
    new Gauge({
      ...{ name, help, registers: [registry] },
      async collect() {
        const found = await reading();
        if (found !== undefined) {
          this.set(sampleOf(found));
        } else {
          this.remove();
        }
      },
    });
  }
}
