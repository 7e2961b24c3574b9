import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Duplex, Readable } from 'node:stream';

/**
 * Starts the command next to a watcher in the same process group. The watcher reads a pipe that only our
 * process holds open, notices our death even by kill -9, and ends the group. While it lives, the group's id
 * cannot be reused.
 */
const TETHER_SCRIPT = `
(
  trap '' HUP INT TERM
  read -r _ <&3
  kill -s TERM -- -$$
  for _ in 1 2 3 4 5; do kill -s 0 $$ || break; sleep 1; done
  kill -s KILL -- -$$
) </dev/null >/dev/null 2>&1 &
exec "$@" 3<&-
`;

interface TetheredOptions {
  env?: NodeJS.ProcessEnv;
  onStdoutLine?: (line: string) => void;
  onStderrLine?: (line: string) => void;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Tethered {
  pid: number;
  /**
   * Settles when the command has ended and no child holds its output open. The watcher kills the children
   * that remain.
   */
  exited: Promise<Exit>;
  /** Asks only the command to end, if it runs: another process may have its number later. */
  terminate(): void;
  /** Kills the command and its children. Not after `exited`: another group may have its number then. */
  kill(): void;
}

/** Starts a command that ends with our process at the latest, with all its children. */
export function spawnTethered(command: string, args: string[], options: TetheredOptions = {}): Tethered {
  const child = spawn('/bin/sh', ['-c', TETHER_SCRIPT, 'sh', command, ...args], {
    // A separate group: Ctrl-C in a terminal reaches us alone, and we decide the order of ending.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: options.env ?? process.env,
  });
  child.on('error', () => undefined);
  const pid = child.pid;
  if (pid === undefined) {
    throw new Error('/bin/sh could not be started.');
  }
  const tether = child.stdio[3] as Duplex;
  tether.on('error', () => undefined);
  readLines(child.stdout, options.onStdoutLine);
  readLines(child.stderr, options.onStderrLine);
  return {
    pid,
    exited: exitOf(child, tether),
    terminate: () => {
      if (child.exitCode === null && child.signalCode === null) {
        signal(pid, 'SIGTERM');
      }
    },
    kill: () => signal(-pid, 'SIGKILL'),
  };
}

function exitOf(child: ChildProcess, tether: Duplex): Promise<Exit> {
  // Closing the pipe ends the watcher, and with it what the command left running.
  child.once('exit', () => tether.destroy());
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

function readLines(stream: Readable | null, onLine: (line: string) => void = () => undefined): void {
  if (stream) {
    createInterface({ input: stream }).on('line', onLine);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') {
      throw error;
    }
  }
}
