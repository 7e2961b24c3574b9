interface Caller {
  withAbortSignal<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T>;
  withDeadline<T>(deadline: number, call: () => Promise<T>): Promise<T>;
}

/**
 * A call to the server that ends with `over` or after the limit. The client never removes its listener from a
 * call's signal, so a longer-lived signal is not passed to it.
 */
export async function limitedCall<T>(
  client: Caller,
  over: AbortSignal,
  limitMs: number,
  call: () => Promise<T>,
): Promise<T> {
  over.throwIfAborted();
  const own = new AbortController();
  const abort = () => own.abort(over.reason);
  over.addEventListener('abort', abort);
  try {
    return await client.withAbortSignal(own.signal, () => client.withDeadline(Date.now() + limitMs, call));
  } finally {
    over.removeEventListener('abort', abort);
  }
}
