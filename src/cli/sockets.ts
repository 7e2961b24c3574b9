import { connect, type NetConnectOpts } from 'node:net';
import { dirname, join } from 'node:path';
import type { Config } from '../config/config.js';
import { makeFolder } from '../files/folders.js';
import { lockFile } from '../store/file-lock.js';
import { StoreError } from '../store/store-error.js';
import type { RoleName } from './roles/role.js';
import { explaining, PassingError, StartupError } from './startup-error.js';

/** The limit of the strictest supported system. */
const MAX_PATH_BYTES = 103;

/** Undefined for an address that is not a socket. */
export function socketPathOf(address: string): string | undefined {
  return address.startsWith('unix:') ? address.slice('unix:'.length) : undefined;
}

/** A domain listens on a socket, or on ROLES_ADDRESS for edges and workers on other machines. */
export function runsDomain({ DOMAIN_ADDRESS, ROLES_ADDRESS }: Config): boolean {
  return socketPathOf(DOMAIN_ADDRESS) !== undefined || ROLES_ADDRESS !== undefined;
}

/** A DNS name counts as several: each of its addresses is a domain. */
export function namesSeveralDomains({ DOMAIN_ADDRESS: address }: Config): boolean {
  return socketPathOf(address) === undefined && /^dns:|,/.test(address);
}

export function refuseUnreachableDomain(config: Config): void {
  if (!runsDomain(config)) {
    throw new StartupError(
      'Edge and worker could not reach this domain: DOMAIN_ADDRESS is not a socket, so set ROLES_ADDRESS to the host:port for their calls.',
    );
  }
}

/** Refuses a path that is too long for the socket on which the domain listens. */
export function refuseLongSocket({ DOMAIN_ADDRESS }: Pick<Config, 'DOMAIN_ADDRESS'>): void {
  refuseLong(socketPathOf(DOMAIN_ADDRESS) ?? '', 'DATA_DIR or DOMAIN_ADDRESS');
}

/** Refuses a data directory whose path is too long for the sockets of `serve`. */
export function refuseLongRunDir(config: Pick<Config, 'DATA_DIR'>): void {
  // The longest path decides whether all fit.
  refuseLong(opsSocketOf(runDirOf(config), 'worker'), 'DATA_DIR');
}

/** The system would say "invalid argument". */
function refuseLong(path: string, settings: string): void {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new StartupError(`The path ${path} is too long for a socket. Set ${settings} to a shorter one.`);
  }
}

/** Makes the directory of a socket, and locks its path until this process ends. */
export function claimSocket(path: string, refusal: string): void {
  const directory = dirname(path);
  const unwritable = (why: string) => `The directory ${directory} cannot be written: ${why}.`;
  explaining(StartupError, unwritable, () => makeFolder(directory));
  const lock = lockOf(path, refusal);
  // If the lock were garbage-collected, it would be released.
  process.once('exit', lock.release);
}

function lockOf(path: string, refusal: string): { release(): void } {
  try {
    return lockFile(`${path}.lock`, refusal);
  } catch (error) {
    throw error instanceof StoreError && error.mayPass ? new PassingError(error.message) : error;
  }
}

export function runDirOf({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string {
  return join(DATA_DIR, 'run');
}

/** Where a role under `serve` answers its supervisor. */
export function opsSocketOf(runDir: string, role: RoleName): string {
  return join(runDir, `${role}.ops.sock`);
}

/** The file holds the process group id of a demo's Temporal server while the server runs. */
export function temporalGroupFileOf(runDir: string): string {
  return join(runDir, 'temporal.group');
}

/** Claims the directory of the sockets by the path of one. */
export function claimRunDir(
  { DATA_DIR }: Pick<Config, 'DATA_DIR'>,
  refusal = `Another \`integration serve\` already runs on ${DATA_DIR}. Stop it, or set DATA_DIR to another directory.`,
): string {
  refuseLongRunDir({ DATA_DIR });
  const runDir = runDirOf({ DATA_DIR });
  claimSocket(opsSocketOf(runDir, 'worker'), refusal);
  return runDir;
}

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
