import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { runCommand } from './command.js';

const answerLimitMs = 10_000;

/** Whether a file is a Temporal CLI that runs here, not a partial file or another platform's. */
export async function isTemporal(executable: string, signal?: AbortSignal): Promise<boolean> {
  const executableHere = await access(executable, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!executableHere) return false;
  const { code, lastLines } = await runCommand(executable, ['--version'], {
    signal,
    silenceLimitMs: answerLimitMs,
  });
  return code === 0 && /^temporal version /m.test(lastLines.join('\n'));
}

/** The files of a name in the order of the PATH. */
export function candidatesOnPath(name: string, env: NodeJS.ProcessEnv): string[] {
  const folders = (env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, name));
}
