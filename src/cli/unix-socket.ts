import { connect } from 'node:net';
import { StartupError } from './startup-error.js';

/** The limit of the strictest supported system. */
const MAX_PATH_BYTES = 103;

/** Without this check the system would say "invalid argument". */
export function refuseLongSocketPath(path: string): void {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new StartupError(
      `The path ${path} is too long for a socket. Set DATA_DIR to a shorter one, or DOMAIN_ADDRESS.`,
    );
  }
}

/** Whether a process listens there; a killed one may have left the file behind. */
export function socketAnswers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
