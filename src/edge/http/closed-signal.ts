import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';

const controllers = new WeakMap<Socket, AbortController>();

/** Aborted when the connection closes. Node reports that to one of several pipelined answers only. */
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
