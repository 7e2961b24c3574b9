import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';

/** Call it in a describe block; it makes directories that are removed after each test, or after all. */
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

/** In the folder of the run, which is always removed. Short, because socket paths have 104 characters. */
export function newTemporaryDirectory(): string {
  return mkdtempSync(join(process.env.TEST_RUN_FOLDER ?? tmpdir(), 'it-'));
}

/** For databases and other synced files: in memory where possible, and not executable. */
export function newDataDirectory(): string {
  return mkdtempSync(join(process.env.TEST_DATA_FOLDER ?? tmpdir(), 'it-'));
}
