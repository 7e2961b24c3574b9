import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

export const PYTHON_LIBRARY = 'standardwebhooks==1.1.0';

const sources = import.meta.dirname;
const cacheHome = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');

/** A Python environment with the library, made on first use. */
export function pythonWithLibrary(python: string): Promise<string> {
  return cached('python', PYTHON_LIBRARY, 'environment/bin/python', async (folder) => {
    const environment = join(folder, 'environment');
    await run(python, ['-m', 'venv', '--copies', environment]);
    await run(join(environment, 'bin/python'), ['-m', 'pip', 'install', '--quiet', PYTHON_LIBRARY]);
  });
}

/** The program of verify.go, built on first use; what the build fetched goes again. */
export async function goVerifier(go: string): Promise<string> {
  const files = ['go.mod', 'go.sum', 'verify.go'];
  const texts = await Promise.all(files.map((file) => readFile(join(sources, file))));
  return cached('go', texts.join('\0'), 'verify', async (folder) => {
    const scratch = join(folder, 'scratch');
    await mkdir(scratch);
    await Promise.all(files.map((file) => cp(join(sources, file), join(scratch, file))));
    const env = {
      ...process.env,
      GOFLAGS: '-modcacherw -buildvcs=false',
      GOPATH: join(scratch, 'path'),
      GOCACHE: join(scratch, 'cache'),
    };
    await run(go, ['build', '-o', join(folder, 'verify'), '.'], { cwd: scratch, env });
    await rm(scratch, { recursive: true, force: true });
  });
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

/** Made next to its place and renamed there, so that concurrent runs do not conflict. */
async function cached(
  name: string,
  content: string,
  executable: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const version = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const place = join(cacheHome, 'integration-service', 'standardwebhooks', name, version);
  if (!(await exists(join(place, executable)))) {
    await mkdir(dirname(place), { recursive: true });
    const folder = await mkdtemp(`${place}-`);
    try {
      await make(folder);
      // Another run may have been there first; its result is as good.
      await rename(folder, place).catch(() => undefined);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return join(place, executable);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  input?: string;
}

function run(
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
