import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const cacheHome = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');

/** Where it is and how it is called; `place` is the folder in the cache directory. */
interface GoSources {
  folder: string;
  program: string;
  place: string;
}

/** A Go program, built on first use; what the build fetched goes again. */
export async function goProgram(go: string, { folder, program, place }: GoSources): Promise<string> {
  const files = (await readdir(folder)).filter((name) => /\.go$|^go\.(?:mod|sum)$/.test(name)).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file))));
  return kept({ place, content: texts.join('\0'), program }, async (made) => {
    const scratch = join(made, 'scratch');
    await mkdir(scratch);
    await Promise.all(files.map((file) => cp(join(folder, file), join(scratch, file))));
    const env = {
      ...process.env,
      GOFLAGS: '-modcacherw -buildvcs=false',
      GOPATH: join(scratch, 'path'),
      GOCACHE: join(scratch, 'cache'),
    };
    await run(go, ['build', '-o', join(made, program), '.'], { cwd: scratch, env });
    await rm(scratch, { recursive: true, force: true });
  });
}

/** The path of a program in the cache directory. Another content of what it is made of is another program. */
export async function kept(
  { place, content, program }: { place: string; content: string; program: string },
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const version = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const home = join(cacheHome, 'integration-service', place, version);
  if (!existsSync(join(home, program))) {
    await mkdir(dirname(home), { recursive: true });
    // Made next to its place and renamed there, so that concurrent runs do not conflict.
    const folder = await mkdtemp(`${home}-`);
    try {
      await make(folder);
      // Another run may have been there first; its result is as good.
      await rename(folder, home).catch(() => undefined);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
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
    child.stdin.end(input);
  });
}
