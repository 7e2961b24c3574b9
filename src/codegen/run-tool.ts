import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { root } from './layout.js';

/** Runs a command of node_modules or PATH in the root of the project and captures its output. */
export function runTool(command: string, args: readonly string[]) {
  return new Promise<{ exitCode: number; output: string }>((resolve, reject) => {
    const path = `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`;
    const child = spawn(command, args, { cwd: root, env: { ...process.env, PATH: path, NO_COLOR: '1' } });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve({ exitCode: code ?? 1, output }));
  });
}

export async function mustRun(command: string, args: readonly string[]): Promise<void> {
  const { exitCode, output } = await runTool(command, args);
  if (exitCode !== 0) {
    throw new Error(`${command} ${args.join(' ')}\n${output.trim()}`);
  }
}

/** Does work that needs a folder, which is removed afterwards. */
export async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'integration-codegen-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
