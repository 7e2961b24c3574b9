import { spawnTethered } from './tether.js';

export interface CommandOptions {
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** Longest time without a line of output. */
  silenceLimitMs: number;
  onLine?: (line: string) => void;
}

export interface CommandResult {
  /** Null if it was ended for its silence. */
  code: number | null;
  wentSilent: boolean;
  /** The last lines of both outputs. */
  lastLines: string[];
}

const keptLines = 20;

/** Runs a command to its end. Aborted, it throws the reason once the command and its children are gone. */
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
    if (lastLines.length > keptLines) lastLines.shift();
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
