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

/** Every domain on one database reports the same. No samples while the database does not answer. */
export function purgeLagGauge(registry: Registry, read: () => Promise<Record<string, number>>): void {
  const reading = sharedReading(read);
  new Gauge({
    name: 'purge_lag_seconds',
    help: 'For how long the oldest row that the purge can remove has been past its retention (0 if there is none), by kind.',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      const lags = await reading();
      this.reset();
      for (const [kind, lagMs] of Object.entries(lags ?? {})) {
        this.set({ kind }, lagMs / 1_000);
      }
    },
  });
}

export interface StoreSize {
  databaseBytes: number;
  /** Pages of the database that are free for further rows. */
  freeBytes: number;
  /** The write-ahead log. */
  logBytes: number;
}

/** No samples with PostgreSQL, which has monitoring of its own. */
export function storeSizeGauges(registry: Registry, read: () => Promise<StoreSize | undefined>): void {
  const reading = sharedReading(read);
  for (const [name, help, part] of [
    ['store_database_bytes', 'Size of the SQLite database file.', 'databaseBytes'],
    ['store_free_bytes', 'Part of the SQLite database file that is free for further rows.', 'freeBytes'],
    ['store_log_bytes', 'Size of the write-ahead log of SQLite.', 'logBytes'],
  ] as const) {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const size = await reading();
        this.reset();
        if (size) {
          this.set(size[part]);
        } else {
          this.remove();
        }
      },
    });
  }
}

/** Every domain on one database reports the same. No samples with SQLite. */
export function heldBackGauges(
  registry: Registry,
  read: () => Promise<{ changes: number; ageMs: number } | undefined>,
): void {
  const reading = sharedReading(read);
  for (const [name, help, value] of [
    [
      'changes_held_back',
      'Committed changes that readers of the sequence of changes do not get yet, because an earlier transaction is open; at most 10,000 are counted. Only with PostgreSQL.',
      ({ changes }: { changes: number }) => changes,
    ],
    [
      'changes_held_back_age_seconds',
      'Age of the oldest of these changes, 0 if there is none. Only with PostgreSQL.',
      ({ ageMs }: { ageMs: number }) => ageMs / 1_000,
    ],
  ] as const) {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const heldBack = await reading();
        if (heldBack) {
          this.set(value(heldBack));
        } else {
          this.remove();
        }
      },
    });
  }
}

/** Every domain on one database reports the same. No samples while the database does not answer. */
export function nextExpiryGauge(
  registry: Registry,
  read: () => Promise<Partial<Record<string, number>>>,
): void {
  const reading = sharedReading(read);
  new Gauge({
    name: 'next_expiry_timestamp_seconds',
    help: 'When the next key, token or secret expires, or when the next failing webhook subscription is disabled, in seconds since 1970, by kind.',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      const next = await reading();
      this.reset();
      for (const [kind, at] of Object.entries(next ?? {})) {
        this.set({ kind }, Number(at) / 1_000);
      }
    },
  });
}
