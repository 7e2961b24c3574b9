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

/** Passes messages on until the call ends or `stop` is aborted. */
export async function* untilStopped<T>(messages: AsyncIterable<T>, stop: AbortSignal): AsyncGenerator<T> {
  const reader = messages[Symbol.asyncIterator]();
  const leave = () => void reader.return?.();
  stop.addEventListener('abort', leave);
  try {
    while (!stop.aborted) {
      const { done, value } = await reader.next();
      if (done) {
        return;
      }
      yield value;
    }
  } catch (error) {
    if (!stop.aborted) {
      throw error;
    }
  } finally {
    stop.removeEventListener('abort', leave);
    await reader.return?.();
  }
}
