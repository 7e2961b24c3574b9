import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { exchange } from '../../support/http-exchange.js';
import type { Scope } from '../harness/scope.js';

const START_LIMIT_MS = 30_000;
const END_LIMIT_MS = 20_000;
const ASK_EVERY_MS = 10;
const LOG_TAIL_CHARACTERS = 1_000;

export interface StartedProcess {
  pid: number;
  /** Throws once the process has ended, with the last it said. */
  assertRuns(): void;
  /** Until it has ended by itself; throws unless with success, with the last it said. */
  succeeded(): Promise<void>;
  stop(): Promise<void>;
}

export interface NodeProcess {
  arguments: readonly string[];
  env?: Readonly<Record<string, string>>;
  logFile: string;
}

/** A Node process that writes to a file and ends with its scope. */
export function startNode(
  scope: Scope,
  { arguments: given, env = {}, logFile }: NodeProcess,
): StartedProcess {
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, given, {
    env: { ...untuned(), ...env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
    await ended;
    clearTimeout(force);
  };
  if (child.pid === undefined) {
    throw new Error('Node could not be started.');
  }
  scope.onEnd(stop);
  const endIs = (expected: number | null) => {
    const end = child.signalCode ?? child.exitCode;
    if (end !== expected) {
      const said = readFileSync(logFile, 'utf8').slice(-LOG_TAIL_CHARACTERS);
      throw new Error(`${given.join(' ')} ended (${end}): ${said}`);
    }
  };
  const succeeded = async () => {
    await ended;
    endIs(0);
  };
  return { pid: child.pid, assertRuns: () => endIs(null), succeeded, stop };
}

/** Asks until the answer is 200. The headers are made again each time: a key may not be there at first. */
export async function untilAnswers(
  started: StartedProcess,
  port: number,
  path: string,
  headersNow: () => Record<string, string>,
): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    started.assertRuns();
    const status = await exchange(port, path, { headers: headersNow() }).then(
      (answer) => answer.status,
      () => undefined,
    );
    if (status === 200) {
      return;
    }
    if (performance.now() - startedAt > START_LIMIT_MS) {
      throw new Error(`${path} does not answer 200 within ${START_LIMIT_MS} ms, but ${status ?? 'nothing'}.`);
    }
    await sleep(ASK_EVERY_MS);
  }
}

/** What tunes the shell must not tune what is measured. */
function untuned(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR };
}
