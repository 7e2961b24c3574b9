import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closedSignal } from './closed-signal.js';

/** The memory of a streamed answer: some pages in transit. */
export const STREAM_BYTES = 512 * 1_024;

const MOST_BYTES = 96 * 1_024 * 1_024;
/** The time for a reader to take an answer; longer for large ones. */
const PATIENCE_MS = 30_000;
const LEAST_BYTES_PER_MS = 2;

interface Unsent {
  socket: Socket;
  owner: string;
  bytes: number;
}

/** Answers not yet taken by readers, limited in time and total size. The largest owner loses its oldest. */
export class UnsentAnswers {
  readonly #unsent = new Set<Unsent>();
  #bytes = 0;

  constructor(private readonly mostBytes = MOST_BYTES) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts until the answer is sent or its connection closed. */
  add(response: ServerResponse, owner: string, bytes: number): void {
    const { socket } = response.req;
    const closed = closedSignal(socket);
    if (closed.aborted) {
      return;
    }
    const unsent = { socket, owner, bytes };
    const remove = () => {
      closed.removeEventListener('abort', remove);
      this.#remove(unsent);
    };
    this.#unsent.add(unsent);
    this.#bytes += bytes;
    response.once('finish', remove);
    closed.addEventListener('abort', remove);
    while (this.#bytes > this.mostBytes) {
      const victim = this.#oldestOfGreatest();
      this.#remove(victim);
      victim.socket.destroy();
    }
  }

  /** The same for an answer with a complete body. */
  addWhole(response: ServerResponse, owner: string): void {
    const bytes = response.writableLength;
    if (bytes > 0) {
      const { socket } = response.req;
      const patience = setTimeout(() => socket.destroy(), PATIENCE_MS + bytes / LEAST_BYTES_PER_MS).unref();
      response.once('finish', () => clearTimeout(patience));
      this.add(response, owner, bytes);
    }
  }

  #remove(unsent: Unsent): void {
    if (this.#unsent.delete(unsent)) {
      this.#bytes -= unsent.bytes;
    }
  }

  #oldestOfGreatest(): Unsent {
    const held = new Map<string, number>();
    for (const { owner, bytes } of this.#unsent) {
      held.set(owner, (held.get(owner) ?? 0) + bytes);
    }
    const [greatest] = [...held].reduce((most, one) => (one[1] > most[1] ? one : most));
    return [...this.#unsent].find(({ owner }) => owner === greatest) as Unsent;
  }
}
