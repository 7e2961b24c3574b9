import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import { StartupError } from '../startup-error.js';
import { refuseLongSocketPath, socketAnswers } from '../unix-socket.js';

/** The longest socket name decides whether all fit. */
const LONGEST_SOCKET = 'worker.ops.sock';

/** Claims the directory of the sockets by listening on one: the system ends such a claim with the process. */
export async function claimRunDir({ DATA_DIR }: Config): Promise<string> {
  const runDir = join(DATA_DIR, 'run');
  refuseLongSocketPath(join(runDir, LONGEST_SOCKET));
  try {
    mkdirSync(runDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StartupError(`The data directory ${DATA_DIR} cannot be written: ${(error as Error).message}.`);
  }
  const claim = join(runDir, 'serve.sock');
  if (await socketAnswers(claim)) {
    throw new StartupError(
      `Another \`integration serve\` already runs on ${DATA_DIR}. Stop it, or set DATA_DIR to another directory.`,
    );
  }
  rmSync(claim, { force: true });
  await listenOn(claim);
  return runDir;
}

function listenOn(path: string): Promise<void> {
  const server = createServer((socket) => socket.destroy()).unref();
  return new Promise((resolve, reject) => {
    server.once('error', ({ message }) =>
      reject(new StartupError(`The socket ${path} cannot be made: ${message}.`)),
    );
    server.listen(path, resolve);
  });
}
