import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 50;
const LONGEST_MS = 1_000;

/** Resolves when the time is over or `stop` is aborted, whichever comes first. */
export async function pause(delayMs: number, stop: AbortSignal): Promise<void> {
  await sleep(delayMs, undefined, { signal: stop }).catch(() => undefined);
}

/** The pause after this many failures in a row; partly random, so that workers do not return together. */
export function pauseMsAfter(failures: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10)) * (0.5 + Math.random() / 2);
}
