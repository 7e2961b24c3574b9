import { setTimeout as sleep } from 'node:timers/promises';

interface BackoffSettings {
  firstDelayMs: number;
  maxDelayMs: number;
}

/** Doubles up to the maximum; the upper half is random, so that workers do not return together. */
export function backoffDelayMs(failures: number, { firstDelayMs, maxDelayMs }: BackoffSettings): number {
  const ceilingMs = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 30));
  return ceilingMs / 2 + Math.random() * (ceilingMs / 2);
}

/** Resolves when the time is over or `stop` is aborted, whichever comes first. */
export async function pause(delayMs: number, stop?: AbortSignal): Promise<void> {
  await sleep(delayMs, undefined, { signal: stop }).catch(() => undefined);
}
