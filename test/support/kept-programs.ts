import { spawn } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GO_BUILDS } from './go-builds.js';
import { kept } from './kept.js';

/** Where it is and how it is called; `place` is its name in the cache directory. */
interface GoSources {
  folder: string;
  program: string;
  place: string;
}

/** A Go program, built on first use; the modules that the build fetched go again. */
export async function goProgram(go: string, { folder, program, place }: GoSources): Promise<string> {
  const files = (await readdir(folder)).filter((name) => /\.go$|^go\.(?:mod|sum)$/.test(name)).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file))));
  const home = await kept(place, texts.join('\0'), async (made) => {
    const scratch = join(made, 'scratch');
    await mkdir(scratch);
    await Promise.all(files.map((file) => cp(join(folder, file), join(scratch, file))));
    const env = { ...process.env, ...GO_BUILDS, GOPATH: join(scratch, 'path') };
    await run(go, ['build', '-o', join(made, program), '.'], { cwd: scratch, env });
    await rm(scratch, { recursive: true, force: true });
  });
  return join(home, program);
}

/** What the program answers to these lines, a line each. */
export async function answersOf(
  command: string,
  args: readonly string[],
  lines: readonly string[],
): Promise<string[]> {
  const output = await run(command, args, { input: lines.map((line) => `${line}\n`).join('') });
  return output.trim().split('\n');
}

interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string;
  timeout?: number;
}

/** Its output; a failure has that, too. */
export function run(
  command: string,
  args: readonly string[],
  { input = '', ...options }: RunOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: 'pipe' });
    let output = '';
    let complaints = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      complaints += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0
        ? resolve(output)
        : reject(new Error(`${command} ended with ${code}: ${complaints}${output}`)),
    );
    // A program that ends unread breaks the pipe; its exit code says how it has ended.
    child.stdin.on('error', () => undefined).end(input);
  });
}
