import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';

const controllers = new WeakMap<Socket, AbortController>();

/**
 * Aborted when the connection is closed. Node tells that only of the answer whose turn it is; others of the same connection, whose requests came without waiting for the
 * answers before them, would wait for ever.
 */
export function closedSignal(socket: Socket): AbortSignal {
  if (socket.destroyed) {
    return AbortSignal.abort();
  }
  let controller = controllers.get(socket);
  if (!controller) {
    const made = new AbortController();
    setMaxListeners(0, made.signal);
    socket.once('close', () => made.abort());
    controllers.set(socket, made);
    controller = made;
  }
  return controller.signal;
}
