import { pause } from '../../../workflows/backoff.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';

const RETRY_INTERVAL_MS = 500;

/** Whether the other side is away. Such a call was not refused, so it may be repeated. */
export function isLost(error: unknown): boolean {
  return error instanceof ServiceError && error.code === ErrorCode.UNAVAILABLE;
}

/** Waits before the next attempt; ends at once when `stop` is aborted. */
export async function untilNextTry(stop?: AbortSignal): Promise<void> {
  await pause(RETRY_INTERVAL_MS, stop);
}
