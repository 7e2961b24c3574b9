import { setTimeout as pause } from 'node:timers/promises';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';

const RETRY_INTERVAL_MS = 500;

/** Whether the other side was not reached, or went away: nothing was refused, so that the same may be asked again. */
export function isLost(error: unknown): boolean {
  return error instanceof ServiceError && error.code === ErrorCode.UNAVAILABLE;
}

/** Before asking again; over at once when nobody wants to. */
export async function untilNextTry(stop?: AbortSignal): Promise<void> {
  await waited(RETRY_INTERVAL_MS, stop);
}

export async function waited(ms: number, stop?: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal: stop }).catch(() => undefined);
}
