/** Passes messages on until `over` is aborted, without waiting for the next message. */
export async function* messagesUntil<T>(over: AbortSignal, messages: AsyncIterable<T>): AsyncIterable<T> {
  const iterator = messages[Symbol.asyncIterator]();
  let end: () => void = () => undefined;
  const endNow = () => end();
  over.addEventListener('abort', endNow);
  try {
    while (!over.aborted) {
      const next = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        end = () => resolve(undefined);
        iterator.next().then(resolve, reject);
      });
      if (next === undefined || next.done) {
        return;
      }
      yield next.value;
    }
  } finally {
    over.removeEventListener('abort', endNow);
  }
}
