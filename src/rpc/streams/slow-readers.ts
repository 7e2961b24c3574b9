import { type EventEmitter, once } from 'node:events';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';

/** How long the reader of a stream may pause. */
export const READER_PATIENCE_MS = 120_000;

export function notRead(): ServiceError {
  return new ServiceError(ErrorCode.UNAVAILABLE, 'The answer was not read for two minutes.');
}

/** Waits until the peer has read or is gone. Leaves no listener behind, because a stream waits often. */
export async function untilWritable(stream: EventEmitter, gone: 'cancelled' | 'end'): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race(['drain', gone, 'close'].map((event) => once(stream, event, { signal })));
  } finally {
    over.abort();
  }
}
