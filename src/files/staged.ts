import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { syncFolder } from './folders.js';

const OWNER_ONLY = 0o600;
/** Lines are collected to at least this length before each write. */
const CHUNK_LENGTH = 65_536;
/** Process table, process id, and a number of its own. */
const NAME = /\.partial-([0-9a-f]{8})-(\d+)-[0-9a-f]{8}$/;
/** For writers on other machines. A living writer does not pause for so long. */
const ABANDONED_MS = 86_400_000;

/** What a file will contain: a text, or lines that are not in memory together. */
export type Content = string | Iterable<string>;

/** What this process has staged. */
const staged = new Set<string>();

/** The temporary name of a file or folder, which ends with `unstage`. */
export function stage(path: string): string {
  const name = `${path}.partial-${processTable()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  staged.add(name);
  return name;
}

/** Removes the file or folder, unless `place` has renamed it. */
export function unstage(name: string): void {
  try {
    rmSync(name, { recursive: true, force: true });
  } finally {
    staged.delete(name);
  }
}

/**
 * Writes a file for its owner alone. It is complete on the disk before `place` gives it its name, so a crash
 * leaves the old file or the new one. `prepare` gets the open file: by then, another user may have put
 * another file under its name. Removes what killed writers left in the folder.
 */
export function writeWhole(
  path: string,
  content: Content,
  place: (staged: string, path: string) => void = renameSync,
  prepare?: (file: number) => void,
): void {
  const folder = dirname(path);
  removeLeft('files', folder);
  const name = stage(path);
  try {
    writeNew(name, content, prepare);
    place(name, path);
  } finally {
    unstage(name);
  }
  syncFolder(folder);
}

/** Writes a new file for its owner alone, and syncs it. */
export function writeNew(path: string, content: Content, prepare?: (file: number) => void): void {
  const file = openSync(path, 'wx', OWNER_ONLY);
  try {
    for (const chunk of chunksOf(content)) {
      appendFileSync(file, chunk);
    }
    prepare?.(file);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Makes an empty file for its owner alone; follows no link. Returns false if the name exists. It does not
 * open that file: closing it would drop the locks that this process has on it.
 */
export function makePrivately(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
    return false;
  }
}

function* chunksOf(content: Content): Generator<string> {
  let chunk = '';
  for (const line of typeof content === 'string' ? [content] : content) {
    chunk += line;
    if (chunk.length >= CHUNK_LENGTH) {
      yield chunk;
      chunk = '';
    }
  }
  yield chunk;
}

/** Whether a name in a folder is a temporary one. */
export function isStaged(name: string): boolean {
  return NAME.test(name);
}

/** Removes what killed writers left. What this user may not remove stays. */
export function removeLeft(kind: 'files' | 'folders', folder: string): void {
  for (const path of leftIn(folder, kind)) {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // This user may not remove it, such as in a read-only folder.
    }
  }
}

function leftIn(folder: string, kind: 'files' | 'folders'): string[] {
  return namesIn(folder)
    .filter(isStaged)
    .map((name) => join(folder, name))
    .filter((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      // Another user may have made the name in a folder that is open to all.
      return (
        stats !== undefined &&
        stats.uid === (process.getuid?.() ?? stats.uid) &&
        stats.isDirectory() === (kind === 'folders') &&
        isLeftBehind(path)
      );
    });
}

/** Empty where this user may write to the folder and not list it. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isLeftBehind(path: string): boolean {
  const [, table, id] = NAME.exec(path) ?? [];
  const pid = Number(id);
  if (table === processTable()) {
    // A container that starts again gives its processes the ids that they had before.
    return pid === process.pid ? !staged.has(path) : !isRunning(pid) || isAbandoned(path);
  }
  return isAbandoned(path);
}

function isAbandoned(path: string): boolean {
  const parts = [path, ...namesIn(path).map((name) => join(path, name))];
  const times = parts.map((part) => lstatSync(part, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Date.now() - Math.max(...times) > ABANDONED_MS;
}

/** Whether a process has the id, which may be a later one: the system reuses ids. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Process ids are compared only within one machine or container: others reuse them. */
function processTable(): string {
  return createHash('sha256').update(`${hostname()} ${pidNamespace()}`).digest('hex').slice(0, 8);
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Not Linux.
    return '';
  }
}
