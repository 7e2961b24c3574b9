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
    // Short, because paths of sockets inside it may have only 104 characters.
    const directory = mkdtempSync(join(tmpdir(), 'it-'));
    made.push(directory);
    return directory;
  };
}
