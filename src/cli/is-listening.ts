import { connect, type NetConnectOpts } from 'node:net';

const LIMIT_MS = 5_000;

/** Whether a process accepts connections there; a killed one may have left the file of its socket behind. */
export function isListening(at: NetConnectOpts): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ ...at, timeout: LIMIT_MS });
    const end = (accepts: boolean) => {
      socket.destroy();
      resolve(accepts);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}
