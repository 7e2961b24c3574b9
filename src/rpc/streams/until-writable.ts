import { type EventEmitter, once } from 'node:events';

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
