import { connect } from 'node:net';

/** Resolves when a server takes a connection at `host:port`, or when stopped; rejects with a sentence. */
export async function untilAnswered(address: string, limitMs: number, stop: AbortSignal): Promise<void> {
  if (stop.aborted) {
    return;
  }
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port: Number(address.slice(colon + 1)) });
    const end = (reason?: string) => {
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
      socket.destroy();
      if (reason) {
        reject(new Error(reason));
      } else {
        resolve();
      }
    };
    const onStop = () => end();
    const timer = setTimeout(
      () => end(`No answer from ${address} within ${limitMs / 1000} seconds.`),
      limitMs,
    );
    stop.addEventListener('abort', onStop);
    socket.once('connect', () => end());
    // With several addresses, the error of the connection has no message of its own.
    socket.once('error', (error: NodeJS.ErrnoException) =>
      end(error.syscall === 'getaddrinfo' ? error.message : `Nothing answers at ${address}.`),
    );
  });
}
