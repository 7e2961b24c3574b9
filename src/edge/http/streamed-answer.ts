import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { closedSignal } from './closed-signal.js';
import type { BodyStream } from './exchange.js';

const STREAM_BUFFER_BYTES = 64 * 1_024;

/** Writes at the speed of the reader; aborts a reader that is too slow. */
export async function writeStream(
  response: ServerResponse,
  body: BodyStream,
  pieceTimeoutMs: number,
): Promise<void> {
  const { socket } = response.req;
  const patience = setTimeout(() => socket.destroy(), pieceTimeoutMs);
  response.on('drain', () => patience.refresh());
  const pieces = eachTaken(body, () => patience.refresh());
  const source = Readable.from(pieces, { objectMode: false, highWaterMark: STREAM_BUFFER_BYTES });
  // Reset, not closed: for HTTP/1.0 a closed connection is the regular end of an answer.
  source.once('error', () => response.socket?.resetAndDestroy());
  const closed = closedSignal(socket);
  // `pipeline` waits for a `close` that Node emits only for the answer whose turn it is.
  const tellClosed = () => {
    if (!response.socket) {
      response.emit('close');
    }
  };
  closed.addEventListener('abort', tellClosed);
  try {
    const written = pipeline(source, response, { signal: closed });
    if (closed.aborted) {
      tellClosed();
    }
    await written;
  } finally {
    closed.removeEventListener('abort', tellClosed);
    clearTimeout(patience);
  }
}

/**
 * Calls `taken` for each piece: small ones never fill the buffers, and so never drain them. No generator:
 * `return` on an unstarted one would not release the body.
 */
function eachTaken(body: BodyStream, taken: () => void): AsyncIterableIterator<Buffer> {
  return {
    next: async () => {
      const piece = await body.next();
      taken();
      return piece;
    },
    return: () => body.return() as Promise<IteratorResult<Buffer>>,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Node 24 reports the last code if the client left before the first piece of the answer. */
const LEFT = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR', 'ERR_STREAM_UNABLE_TO_PIPE']);

/** Whether the client left before it had the whole answer. */
export function isLeft(error: unknown): boolean {
  return LEFT.has(String((error as NodeJS.ErrnoException).code));
}
