import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { roomyMemoryFolder } from './memory-folder.js';

const KEEPER = fileURLToPath(new URL('./keeper.js', import.meta.url));

/** Starts the keeper before any worker; PostgreSQL itself starts when a test first asks for it. */
export default async function startKeeper() {
  const folder = mkdtempSync(join(tmpdir(), 'integration-tests-'));
  const memory = roomyMemoryFolder();
  const dataFolder = memory ? mkdtempSync(join(memory, 'it-')) : folder;
  // Detached, so that Ctrl-C does not reach it: it ends when its standard input does, and cleans up.
  const keeper = spawn(process.execPath, [KEEPER, folder, dataFolder], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const failed = once(keeper, 'exit').then(() => {
    throw new Error('The keeper of PostgreSQL did not start.');
  });
  const [socket] = await Promise.race([once(keeper.stdout, 'data'), failed]);
  failed.catch(() => undefined);
  // For other temporary things too, because the keeper removes it.
  process.env.TEST_RUN_FOLDER = folder;
  process.env.TEST_DATA_FOLDER = dataFolder;
  process.env.TEST_POSTGRES_KEEPER = String(socket).trim();
  // Compiling its modules is a quarter of the start of a role, and tests start hundreds.
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
  globalThis.postgresKeeper = keeper;
}
