import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { closedSignal } from './connections.js';
import { type BodyStream, bodyStream } from './exchange.js';

/** The memory of a streamed answer: two messages of a domain read ahead, and two more on their way out. */
export const STREAM_BYTES = 4 * 320 * 1_024;

/** As many streams as a domain has lists. */
const MOST_BYTES = 192 * STREAM_BYTES;
/** The rest is for the message that each list may add before it learns that there is no room. */
const SHARE_WITH_ROOM = 3 / 4;
/** The time for a reader to take an answer; longer for large ones. */
const PATIENCE_MS = 30_000;
const LEAST_BYTES_PER_MS = 2;
const MOST_PATIENCE_MS = 600_000;

interface Unsent {
  socket: Socket;
  owner: string;
  bytes: number;
  remove(): void;
}

/** Answers not yet taken by readers, limited in time and total size. The largest owner loses its oldest. */
export class UnsentAnswers {
  readonly #unsent = new Map<ServerResponse, Unsent>();
  #bytes = 0;

  constructor(private readonly mostBytes = MOST_BYTES) {}

  /** Counts until the answer is sent or its connection closed; of one that grows, the last size. */
  add(response: ServerResponse, owner: string, bytes: number, patienceMs?: number): void {
    const { socket } = response.req;
    const closed = closedSignal(socket);
    if (closed.aborted) {
      return;
    }
    this.#unsent.get(response)?.remove();
    const patience = patienceMs && setTimeout(() => socket.destroy(), patienceMs).unref();
    const remove = () => {
      clearTimeout(patience);
      response.removeListener('finish', remove);
      closed.removeEventListener('abort', remove);
      this.#bytes -= this.#unsent.delete(response) ? bytes : 0;
    };
    this.#unsent.set(response, { socket, owner, bytes, remove });
    this.#bytes += bytes;
    response.once('finish', remove);
    closed.addEventListener('abort', remove);
    while (this.#bytes > this.mostBytes) {
      const victim = this.#oldestOfGreatest();
      victim.remove();
      victim.socket.destroy();
    }
  }

  /** The same for an answer with a complete body. */
  addWhole(response: ServerResponse, owner: string): void {
    const bytes = response.writableLength;
    if (bytes > 0) {
      this.add(response, owner, bytes, Math.min(PATIENCE_MS + bytes / LEAST_BYTES_PER_MS, MOST_PATIENCE_MS));
    }
  }

  /** Where little is left, there is room only for owners that hold little: others would be cut first. */
  hasRoomFor(owner: string): boolean {
    if (this.#bytes <= SHARE_WITH_ROOM * this.mostBytes) {
      return true;
    }
    const held = this.#heldByOwner();
    return 2 * (held.get(owner) ?? 0) < Math.max(...held.values());
  }

  #oldestOfGreatest(): Unsent {
    const [greatest] = [...this.#heldByOwner()].reduce((most, one) => (one[1] > most[1] ? one : most));
    return [...this.#unsent.values()].find(({ owner }) => owner === greatest) as Unsent;
  }

  #heldByOwner(): Map<string, number> {
    const held = new Map<string, number>();
    for (const { owner, bytes } of this.#unsent.values()) {
      held.set(owner, (held.get(owner) ?? 0) + bytes);
    }
    return held;
  }
}

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

/** Calls `taken` for each piece: small ones never fill the buffers, and so never drain them. */
function eachTaken(body: BodyStream, taken: () => void): BodyStream {
  const next = async () => {
    const piece = await body.next();
    taken();
    return piece;
  };
  return bodyStream(next, () => body.return());
}

/** Node 24 reports the last code if the client left before the first piece of the answer. */
const LEFT = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR', 'ERR_STREAM_UNABLE_TO_PIPE']);

/** Whether the client left before it had the whole answer. */
export function hasClientLeft(error: unknown): boolean {
  return LEFT.has(String((error as NodeJS.ErrnoException).code));
}
