import { type ChildProcess, spawn } from 'node:child_process';
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

function typed(args: readonly string[], settings: Settings) {
  const env = { PATH: process.env.PATH, DATA_DIR: '/nobody/keeps/data/here', ...settings };
  return spawn(process.execPath, [mainFile, ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

const endOf = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('close', resolve));

/** Runs `integration …` as a person would type it, with these settings and no others. */
export async function integration(args: readonly string[], settings: Settings = {}): Promise<Typed> {
  const child = typed(args, settings);
  const ended = endOf(child);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
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
