import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';

const signals = new WeakMap<Socket, AbortSignal>();

/** Aborted when the connection closes. Node reports that to one of several pipelined answers only. */
export function closedSignal(socket: Socket): AbortSignal {
  if (socket.destroyed) {
    return AbortSignal.abort();
  }
  const known = signals.get(socket);
  if (known) {
    return known;
  }
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  socket.once('close', () => controller.abort());
  signals.set(socket, controller.signal);
  return controller.signal;
}
