import { setTimeout as pause } from 'node:timers/promises';

const MS_PER_SECOND = 1_000;
const KEPT_FAILURES = 20;

export interface Rate {
  perSecond: number;
  /** Limits concurrency: a slow service gets fewer requests. */
  atOnce: number;
}

export interface Tally {
  name: string;
  tookMs: number[];
  failed: number;
  /** The first ones. */
  failures: string[];
}

/** Starts the work at this rate until the signal; returns when all started work has ended. */
export async function steadily(
  name: string,
  { perSecond, atOnce }: Rate,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<Tally> {
  const tally: Tally = { name, tookMs: [], failed: 0, failures: [] };
  const startedAt = performance.now();
  let begun = 0;
  const one = async () => {
    while (!signal.aborted) {
      const dueInMs = startedAt + (begun * MS_PER_SECOND) / perSecond - performance.now();
      begun += 1;
      await pause(Math.max(0, dueInMs), undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) {
        await timed(tally, work);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return tally;
}

async function timed(tally: Tally, work: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  try {
    await work();
    tally.tookMs.push(performance.now() - startedAt);
  } catch (error) {
    tally.failed += 1;
    if (tally.failures.length < KEPT_FAILURES) {
      tally.failures.push((error as Error).message);
    }
  }
}

/** A line for each tally. */
export function tableOf(tallies: readonly Tally[]): string {
  return tallies
    .map(({ name, tookMs, failed }) => {
      const sorted = tookMs.toSorted((a, b) => a - b);
      const at = (part: number) => Math.round(sorted[Math.floor(sorted.length * part)] ?? Number.NaN);
      return `${name}: ${tookMs.length} done, ${failed} failed, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
    })
    .join('\n');
}
