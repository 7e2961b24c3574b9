import { type ChildProcess, type ChildProcessByStdio, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach } from '@jest/globals';
import { OutputLines } from '../support/output-lines.js';
import { mainFile, root } from '../support/service-process.js';

export interface Typed {
  code: number | null;
  stdout: string;
  stderr: string;
}

type Settings = Record<string, string>;

const environmentOf = (settings: Settings) => ({
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  DATA_DIR: '/nobody/keeps/data/here',
  ...settings,
});

function typed(args: readonly string[], settings: Settings) {
  const env = environmentOf(settings);
  return spawn(process.execPath, [mainFile, ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

const endOf = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('close', resolve));

/** Runs `integration …` as a person would type it, with these settings and no others. */
export async function integration(args: readonly string[], settings: Settings = {}): Promise<Typed> {
  return outcomeOf(typed(args, settings));
}

/** The same for what another command pipes into it. */
export async function pipedIntegration(
  input: string,
  args: readonly string[],
  settings: Settings,
): Promise<Typed> {
  const child = spawn(process.execPath, [mainFile, ...args], { cwd: root, env: environmentOf(settings) });
  child.stdin.end(input);
  return outcomeOf(child);
}

/** The same where that command does not end, and Ctrl-C comes once `isTime` resolves. */
export async function interruptedIntegration(
  input: string,
  args: readonly string[],
  settings: Settings,
  isTime: () => Promise<unknown>,
): Promise<Typed> {
  const child = spawn(process.execPath, [mainFile, ...args], { cwd: root, env: environmentOf(settings) });
  child.stdin.write(input);
  const outcome = outcomeOf(child);
  try {
    await isTime();
  } finally {
    child.kill('SIGINT');
  }
  return outcome;
}

/** The same where that command does not end, and nothing ends this one. */
export function heldIntegration(input: string, args: readonly string[], settings: Settings): Promise<Typed> {
  const child = spawn(process.execPath, [mainFile, ...args], { cwd: root, env: environmentOf(settings) });
  child.stdin.write(input);
  return outcomeOf(child);
}

async function outcomeOf(child: ChildProcessByStdio<Writable | null, Readable, Readable>): Promise<Typed> {
  const ended = endOf(child);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

/** For hangs: less than the limit of a test, so that a failure says which command it was. */
const SHARED_LIMIT_MS = 120_000;

let shared: ChildProcess | undefined;
let lastShared: Promise<unknown> = Promise.resolve();

/**
 * The same for a fraction of the time, in a process that runs one command after another and ends with this
 * one. For tests of what a command prints and does, where others of its kind show that its process ends.
 */
export function sharedIntegration(args: readonly string[], settings: Settings = {}): Promise<Typed> {
  const run = lastShared.then(() => inShared(args, settings));
  lastShared = run.catch(() => undefined);
  return run;
}

async function inShared(args: readonly string[], settings: Settings): Promise<Typed> {
  shared ??= startShared();
  const child = shared;
  const answered = new AbortController();
  child.ref();
  child.channel?.ref();
  const limit = setTimeout(() => child.kill('SIGKILL'), SHARED_LIMIT_MS);
  try {
    const ended = once(child, 'exit', answered).then(([code, signal]) => {
      throw new Error(`The shared process ended with ${code ?? signal} in: integration ${args.join(' ')}`);
    });
    const answer = once(child, 'message', answered) as Promise<[Typed]>;
    child.send({ args, env: environmentOf(settings) });
    return (await Promise.race([answer, ended]))[0];
  } finally {
    clearTimeout(limit);
    answered.abort();
    child.unref();
    child.channel?.unref();
  }
}

function startShared(): ChildProcess {
  const file = join(import.meta.dirname, 'shared-process.js');
  const child = fork(file, [mainFile], { cwd: root, env: environmentOf({}), execArgv: [], stdio: 'ignore' });
  child.once('exit', () => {
    shared = undefined;
  });
  return child;
}

/** One that continues until it is ended, or the test is over. */
export interface RunningCommand {
  child: ChildProcess;
  output: OutputLines;
  errors: OutputLines;
  ended: Promise<number | null>;
  /** The exit code, after what Ctrl-C does. */
  interrupt(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Call it where a group of tests is described. */
export function runningCommands() {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
    }
  });
  return (args: readonly string[], settings: Settings): RunningCommand => {
    const child = typed(args, settings);
    children.push(child);
    const [output, errors] = [new OutputLines(), new OutputLines()];
    output.read(child.stdout);
    errors.read(child.stderr);
    const ended = endOf(child);
    const interrupt = (signal: NodeJS.Signals = 'SIGINT') => {
      child.kill(signal);
      return ended;
    };
    return { child, output, errors, ended, interrupt };
  };
}
