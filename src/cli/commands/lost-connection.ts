import { setTimeout as pause } from 'node:timers/promises';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';

const RETRY_INTERVAL_MS = 500;

/** Whether the other side is away. Such a call was not refused, so it may be repeated. */
export function isLost(error: unknown): boolean {
  return error instanceof ServiceError && error.code === ErrorCode.UNAVAILABLE;
}

/** Waits before the next attempt; ends at once when `stop` is aborted. */
export async function untilNextTry(stop?: AbortSignal): Promise<void> {
  await waited(RETRY_INTERVAL_MS, stop);
}

export async function waited(ms: number, stop?: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal: stop }).catch(() => undefined);
}
