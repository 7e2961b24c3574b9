import type { Reader } from '../database.js';

export interface CheckSettings {
  now: number;
  /** The purge may have removed deliveries of older events. */
  eventsMs: number;
  /** When a check that reads many rows must stop, on the clock of `performance`. */
  endsAt?: number | undefined;
}

export interface Found {
  count: number;
  /** The first findings, with ids that a log search finds. */
  examples: readonly string[];
  /** A measurement, or what limits the finding. */
  detail?: string | undefined;
}

/** Looks for one kind of damage or trouble. Reads in pages, because the service may be running. */
export interface Check<Settings = CheckSettings> {
  /** For scripts. */
  name: string;
  /** A sentence that describes the state without findings. */
  about: string;
  /** The severity of its findings. */
  severity: 'warning' | 'error';
  /** What to do about findings. */
  remedy: string;
  find(reader: Reader, settings: Settings): Promise<Found>;
}

const MOST_EXAMPLES = 10;

/** Counts all, keeps the first. */
export class Tally {
  #count = 0;
  #looked = 0;
  #isOutOfTime = false;
  readonly #examples: string[] = [];

  constructor(private readonly endsAt = Number.POSITIVE_INFINITY) {}

  add(example: string): void {
    this.#count += 1;
    if (this.#examples.length < MOST_EXAMPLES) {
      this.#examples.push(example);
    }
  }

  /** Counts rows that were looked at. False if no time is left for more. */
  looked(rows: number): boolean {
    this.#looked += rows;
    this.#isOutOfTime ||= performance.now() > this.endsAt;
    return !this.#isOutOfTime;
  }

  found(rows = 'rows'): Found {
    const detail = this.#isOutOfTime
      ? `The time of the check was enough for ${this.#looked} ${rows}; --thorough reads all.`
      : undefined;
    return { count: this.#count, examples: this.#examples, ...(detail && { detail }) };
  }
}

export function foundIn(examples: readonly string[], detail?: string): Found {
  return { count: examples.length, examples: examples.slice(0, MOST_EXAMPLES), ...(detail && { detail }) };
}

/** A duration, for people. */
export function lengthOf(ms: number): string {
  const units: [number, string][] = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
  ];
  const [size, unit] = units.find(([each]) => ms >= each * 2) ?? [1_000, 's'];
  return `${Math.round(ms / size)} ${unit}`;
}
