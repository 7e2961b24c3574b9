import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** More than clients send before they have the first answer. */
const MOST_UNANSWERED = 16;

/** Counts the unanswered requests of each connection: Node emits every request that has arrived, answered or not, up to thousands in one read. */
export class Connections {
  readonly #unanswered = new WeakMap<Socket, number>();

  /** False if the request is not to be answered: one too many closes its connection, and those behind it in the same read still come. */
  admit({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const unanswered = this.#unanswered.get(socket) ?? 0;
    if (unanswered >= MOST_UNANSWERED) {
      socket.destroy();
    }
    if (socket.destroyed) {
      return false;
    }
    this.#unanswered.set(socket, unanswered + 1);
    response.once('close', () => this.#unanswered.set(socket, (this.#unanswered.get(socket) ?? 1) - 1));
    return true;
  }
}
