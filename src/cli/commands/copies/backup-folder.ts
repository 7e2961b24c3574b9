import { createHash } from 'node:crypto';
import {
  constants,
  copyFileSync,
  createReadStream,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeFolder, sync, syncFolder } from '../../../files/folders.js';
import { type Content, removeLeft, stage, unstage, writeNew, writeWhole } from '../../../files/staged.js';
import { Unfinished, UsageError } from '../errors.js';
import { FILES } from './manifest.js';

const OWNER_ONLY = 0o700;
const LINE = /^([0-9a-f]{64}) {2}([\w.-]+)$/;

/** A folder that is written under a temporary name and renamed once all of it is on the disk. */
export class StagedFolder {
  readonly path: string;

  constructor(readonly target: string) {
    refuseExisting(target);
    this.path = stage(target);
    try {
      makeFolder(dirname(target));
      mkdirSync(this.path, { mode: OWNER_ONLY });
    } catch (error) {
      this.discard();
      throw new UsageError(`The folder ${target} cannot be created: ${(error as Error).message}.`);
    }
    // The folders of killed backups may hold gigabytes that this one needs.
    removeLeft('folders', dirname(target));
  }

  write(name: string, content: Content): void {
    writeNew(join(this.path, name), content);
  }

  /** Writes the checksums, syncs everything, and gives the folder its name. */
  async complete(): Promise<void> {
    const names = readdirSync(this.path).sort();
    const lines: string[] = [];
    for (const name of names) {
      sync(join(this.path, name));
      lines.push(`${await sha256Of(join(this.path, name))}  ${name}\n`);
    }
    this.write(FILES.sums, lines.join(''));
    syncFolder(this.path);
    // Another backup may have taken the name meanwhile; renaming would replace an empty folder only.
    refuseExisting(this.target);
    renameSync(this.path, this.target);
    syncFolder(dirname(this.target));
  }

  discard(): void {
    unstage(this.path);
  }
}

/** Writes a new file, and replaces none. */
export function writeNewFile(path: string, content: Content): void {
  try {
    makeFolder(dirname(path));
    writeWhole(path, content, linkOrCopy);
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    // A file where a folder should be is EEXIST, too.
    throw code === 'EEXIST' && syscall === 'copyfile'
      ? existsAlready(path)
      : new UsageError(`The file ${path} cannot be written: ${message}.`);
  }
}

/** Unlike a rename, neither replaces a file that another command has written. */
function linkOrCopy(staged: string, path: string): void {
  try {
    linkSync(staged, path);
  } catch {
    // FAT and some network file systems have no links.
    copyFileSync(staged, path, constants.COPYFILE_EXCL);
    sync(path);
  }
}

/** The checksums of a complete backup, by file name. */
export function sumsIn(folder: string): Map<string, string> {
  const path = join(folder, FILES.sums);
  if (!existsSync(folder)) {
    throw new UsageError(`There is no folder ${folder}.`);
  }
  if (!statSync(folder).isDirectory()) {
    throw new UsageError(`${folder} is not a folder.`);
  }
  if (!existsSync(path)) {
    throw new Unfinished(
      `${folder} is not a complete backup: it has no ${FILES.sums}. If the backup was interrupted, you can delete the folder.`,
    );
  }
  const sums = new Map<string, string>();
  for (const line of readFileSync(path, 'utf8').trimEnd().split('\n')) {
    const [, sum, name] = LINE.exec(line) ?? [];
    if (sum === undefined || name === undefined) {
      throw new Unfinished(`The backup is damaged: ${path} has a line that is not a checksum.`);
    }
    sums.set(name, sum);
  }
  return sums;
}

/** Refuses a file whose checksum differs from that of the backup. `file` may be a copy. */
export async function assertSum(
  sums: ReadonlyMap<string, string>,
  name: string,
  file: string,
): Promise<void> {
  if (!(await hasSum(sums, name, file))) {
    throw new Unfinished(
      `The backup is damaged: ${name} does not match its checksum in ${FILES.sums}. Use another backup.`,
    );
  }
}

export async function hasSum(
  sums: ReadonlyMap<string, string>,
  name: string,
  file: string,
): Promise<boolean> {
  return existsSync(file) && (await sha256Of(file)) === sums.get(name);
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function refuseExisting(path: string): void {
  if (existsSync(path)) {
    throw existsAlready(path);
  }
}

function existsAlready(path: string): UsageError {
  return new UsageError(`${path} already exists. The command does not overwrite it; choose another path.`);
}
