import { execFileSync } from 'node:child_process';
import { createWriteStream, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { spawnTethered } from '../../workflows/dev-server/tether.js';

/** For hangs: several load all modules at once. */
const START_LIMIT_MS = 150_000;
const STOP_LIMIT_MS = 20_000;
const LOOK_EVERY_MS = 50;
const LINES_OF_FAILURE = 15;

export interface PartOptions {
  name: string;
  command: string;
  args: readonly string[];
  env?: Record<string, string>;
  /** Gets all that it writes. */
  logFile: string;
  /** For programs that refuse to run as root. */
  neverAsRoot?: boolean;
  /** Whether it serves. */
  serves: () => Promise<boolean>;
}

/** A started program of the cluster. */
export interface Part {
  name: string;
  pid: number;
  /** Settles when it has ended. */
  ended: Promise<unknown>;
  /** Asks it to end, and kills it if it does not. */
  stop(): Promise<void>;
}

/** Starts a program that ends with this process at the latest, and waits until it serves. */
export async function startPart(
  options: PartOptions,
  onStarted: (part: Part) => void,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const { name, logFile, env } = options;
  const log = createWriteStream(logFile, { flags: 'a' });
  const lines: string[] = [];
  const onLine = (line: string) => {
    log.write(`${line}\n`);
    lines.push(line);
    lines.splice(0, lines.length - LINES_OF_FAILURE);
  };
  const [command = '', ...args] = commandOf(options);
  const process = spawnTethered(command, args, {
    ...(env && { env }),
    ...{ onStdoutLine: onLine, onStderrLine: onLine },
  });
  let hasEnded = false;
  const ended = process.exited.then(() => {
    hasEnded = true;
    log.end();
  });
  const stop = async () => {
    process.terminate();
    const limit = setTimeout(() => process.kill(), STOP_LIMIT_MS);
    await ended;
    clearTimeout(limit);
  };
  onStarted({ name, pid: process.pid, ended, stop });
  const deadline = performance.now() + START_LIMIT_MS;
  while (!(await options.serves().catch(() => false))) {
    signal?.throwIfAborted();
    if (hasEnded || performance.now() > deadline) {
      const what = hasEnded ? 'ended' : `did not serve within ${START_LIMIT_MS / 1_000} s`;
      throw new Error(`${name} ${what}. The end of ${logFile}:\n${lines.join('\n')}`);
    }
    await pause(LOOK_EVERY_MS);
  }
}

function commandOf({ command, args, neverAsRoot }: PartOptions): string[] {
  return neverAsRoot ? [...asOrdinaryUser(), command, ...args] : [command, ...args];
}

/** What comes before the command of a program that refuses to run as root. */
export function asOrdinaryUser(): string[] {
  return isRoot() ? ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups'] : [];
}

/** Of a file or folder that this process has made. */
export function giveToOrdinaryUser(path: string): void {
  if (isRoot()) {
    execFileSync('chown', ['nobody:nogroup', path]);
  }
}

/** A file that no other user can read. */
export function writeSecret(file: string, text: string): string {
  writeFileSync(file, text, { mode: 0o600 });
  giveToOrdinaryUser(file);
  return file;
}

export function isRoot(): boolean {
  return userInfo().uid === 0;
}
