const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Aborted when somebody asks the command to end, who then waits for what it has to put away; whoever asks twice does not. */
export function stopSignal(): AbortController {
  const stop = new AbortController();
  for (const name of SIGNALS) {
    process.once(name, () => stop.abort());
  }
  return stop;
}

/** What a call brings, until it is over or nobody wants more. */
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
