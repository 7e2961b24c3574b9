import { connect } from 'node:net';
import { StartupError } from './startup-error.js';

/** What the strictest of the systems we run on allows. */
const MAX_PATH_BYTES = 103;

/** Without this the system's own words would be "invalid argument". */
export function refuseLongSocketPath(path: string): void {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new StartupError(
      `The path ${path} is too long for a socket. Set DATA_DIR to a shorter one, or DOMAIN_ADDRESS.`,
    );
  }
}

/** Whether a process listens there; the file alone may have been left behind by one that was killed. */
export function socketAnswers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
