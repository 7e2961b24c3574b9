import { type EventEmitter, once } from 'node:events';

/** Until the peer has read, or is gone, which `gone` says too. A stream may wait here often, so that nothing may stay behind on it. */
export async function untilWritable(stream: EventEmitter, gone: 'cancelled' | 'end'): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race(['drain', gone, 'close'].map((event) => once(stream, event, { signal })));
  } finally {
    over.abort();
  }
}
