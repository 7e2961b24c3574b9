import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';

/** Call it where a group of tests is described; what it gives makes directories that are gone after each test, or after all. */
export function temporaryDirectories(cleanUp = afterEach): () => string {
  const made: string[] = [];
  cleanUp(() => {
    for (const directory of made.splice(0)) {
      rmSync(directory, { recursive: true, force: true });
    }
  });
  return () => {
    const directory = newTemporaryDirectory();
    made.push(directory);
    return directory;
  };
}

/** In the folder of the run, which goes even when the run is killed. Short, because a socket's path has 104 characters at most. */
export function newTemporaryDirectory(): string {
  return mkdtempSync(join(process.env.TEST_RUN_FOLDER ?? tmpdir(), 'it-'));
}

/** For databases and what else is synced to the disk again and again: in memory where that is possible. Nothing in it can be run. */
export function newDataDirectory(): string {
  return mkdtempSync(join(process.env.TEST_DATA_FOLDER ?? tmpdir(), 'it-'));
}
