import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { compiledScript } from './compiled-script.js';

const root = join(import.meta.dirname, '../..');

/** Starts a TypeScript file of the tests as a separate process. */
export function startScript(
  file: string,
  args: readonly string[],
  nodeOptions: readonly string[] = [],
): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, [...nodeOptions, compiledScript(join(root, file)), ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return child as ChildProcess & { stdout: NodeJS.ReadableStream };
}

/** What the script printed before it ended. */
export function runScript(
  file: string,
  args: readonly string[],
  nodeOptions?: readonly string[],
): Promise<string> {
  return text(startScript(file, args, nodeOptions).stdout);
}
