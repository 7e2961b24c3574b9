import { once } from 'node:events';
import { connect } from 'node:net';

/** Resolves when a server takes a connection at `host:port`, or when stopped; rejects with a sentence. */
export async function untilAnswered(address: string, limitMs: number, stop: AbortSignal): Promise<void> {
  if (stop.aborted) {
    return;
  }
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const limit = AbortSignal.timeout(limitMs);
  const socket = connect({ host, port: Number(address.slice(colon + 1)) }).on('error', () => undefined);
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([stop, limit]) });
  } catch (error) {
    if (!stop.aborted) {
      const { syscall, message } = error as NodeJS.ErrnoException;
      // With several addresses, the error of the connection has no message of its own.
      const reason = syscall === 'getaddrinfo' ? message : `Nothing answers at ${address}.`;
      throw new Error(limit.aborted ? `No answer from ${address} within ${limitMs / 1000} seconds.` : reason);
    }
  } finally {
    socket.destroy();
  }
}
