import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceProcess } from '../support/service-process.js';

/** What a disk needs to know of a service. */
type Running = Pick<ServiceProcess, 'pidOf' | 'dataDir'>;

/** A disk that a test fills and frees again under a running service. */
export interface SmallDisk {
  title: string;
  /** Why this machine has none, as a sentence. */
  whyNot?: string;
  /** Gives the data directory to start with; what was made for it goes by `remove`, after the service. */
  make(directory: string): string;
  fill(service: Running): void;
  free(service: Running): void;
  remove(directory: string): void;
}

const SIZE = '24m';
const BLOCK = Buffer.alloc(4_096);
const noTool = (name: string) => spawnSync(name, ['--version']).status !== 0;

/** Of any user on Linux: no file of the domain grows any more. */
const limitedFiles: SmallDisk = {
  title: 'because no file may grow',
  ...(noTool('prlimit') && { whyNot: 'There is no prlimit here, which Linux has in util-linux.' }),
  make: (directory) => join(directory, 'data'),
  // The soft limit, which can be lifted again.
  fill: (service) => limitFiles(service, String(BLOCK.length)),
  free: (service) => limitFiles(service, 'unlimited'),
  remove: () => undefined,
};

function limitFiles(service: Running, bytes: string): void {
  run('prlimit', ['--pid', String(service.pidOf('domain')), `--fsize=${bytes}:`]);
}

/** The real thing, for who may mount: no block is left. */
const memoryFileSystem: SmallDisk = {
  title: 'because no block is left',
  ...(!mayMount() && {
    whyNot: 'Only root may mount a file system in memory, on Linux, where it is allowed to.',
  }),
  make: (directory) => {
    run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', directory]);
    process.once('exit', () => memoryFileSystem.remove(directory));
    return join(directory, 'data');
  },
  fill: (service) => {
    const file = openSync(ballastOf(service), 'w');
    try {
      for (;;) {
        writeSync(file, BLOCK);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') {
        throw error;
      }
    } finally {
      closeSync(file);
    }
  },
  free: (service) => rmSync(ballastOf(service)),
  remove: (directory) => {
    spawnSync('umount', ['--lazy', directory]);
  },
};

function ballastOf({ dataDir }: Running): string {
  return join(dataDir, 'ballast');
}

export const smallDisks: readonly SmallDisk[] = [limitedFiles, memoryFileSystem];

function mayMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return false;
  }
  const directory = join(process.env.TEST_RUN_FOLDER ?? '/tmp', `mount-${process.pid}`);
  mkdirSync(directory);
  try {
    return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]).status === 0;
  } finally {
    spawnSync('umount', [directory]);
    rmSync(directory, { recursive: true });
  }
}

function run(command: string, args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) {
    throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  }
}
