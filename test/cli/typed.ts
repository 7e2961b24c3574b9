import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { mainFile, root } from '../support/service-process.js';

export interface Typed {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `integration …` as a person would type it, with these settings and no others. */
export async function integration(
  args: readonly string[],
  settings: Record<string, string> = {},
): Promise<Typed> {
  const env = { PATH: process.env.PATH, DATA_DIR: '/nobody/keeps/data/here', ...settings };
  const child = spawn(process.execPath, [mainFile, ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}
