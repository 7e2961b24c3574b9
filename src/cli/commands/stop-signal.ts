const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Aborted by the first signal to end, so that the command can clean up; a second one ends it at once. */
export function stopSignal(): AbortController {
  const stop = new AbortController();
  for (const name of SIGNALS) {
    process.once(name, () => stop.abort());
  }
  return stop;
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
