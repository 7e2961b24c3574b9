import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { spawnTethered } from './tether.js';

interface CommandOptions {
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** The longest time without output. */
  silenceLimitMs: number;
  onLine?: (line: string) => void;
}

interface CommandResult {
  /** Null if it was ended for its silence. */
  code: number | null;
  wentSilent: boolean;
  /** The last lines of both outputs. */
  lastLines: string[];
}

const KEPT_LINES = 20;

/** Runs a command to its end. When aborted, it throws the reason after the command and its children ended. */
export async function runCommand(
  command: string,
  args: string[],
  { env, signal, silenceLimitMs, onLine }: CommandOptions,
): Promise<CommandResult> {
  signal?.throwIfAborted();
  const lastLines: string[] = [];
  let wentSilent = false;
  const take = (line: string) => {
    lastLines.push(line);
    if (lastLines.length > KEPT_LINES) {
      lastLines.shift();
    }
    silence.refresh();
    onLine?.(line);
  };
  const child = spawnTethered(command, args, { env, onStdoutLine: take, onStderrLine: take });
  const silence = setTimeout(() => {
    wentSilent = true;
    child.kill();
  }, silenceLimitMs);
  signal?.addEventListener('abort', child.kill);
  try {
    const { code } = await child.exited;
    signal?.throwIfAborted();
    return { code, wentSilent, lastLines };
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', child.kill);
  }
}

/** The person's own CLI configuration does not apply to this server. Older CLIs refuse the flags. */
export const WITHOUT_CONFIGURATION = ['--disable-config-file', '--disable-config-env'];

const ANSWER_LIMIT_MS = 10_000;

/** Whether a file is a Temporal CLI that can start the server: whole, of this platform, and not too old. */
export function isTemporal(executable: string, signal?: AbortSignal): Promise<boolean> {
  return saysItIsTemporal(executable, WITHOUT_CONFIGURATION, signal);
}

/** Whether a file is a Temporal program that runs here. Only the CLI takes the flags. */
export async function saysItIsTemporal(
  executable: string,
  flags: readonly string[],
  signal?: AbortSignal,
): Promise<boolean> {
  const executableHere = await access(executable, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!executableHere) {
    return false;
  }
  const { code, lastLines } = await runCommand(executable, [...flags, '--version'], {
    signal,
    silenceLimitMs: ANSWER_LIMIT_MS,
  });
  return code === 0 && /^temporal version /m.test(lastLines.join('\n'));
}

/** The files of a name in the order of the PATH. */
export function candidatesOnPath(name: string, env: NodeJS.ProcessEnv): string[] {
  const folders = (env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, name));
}
