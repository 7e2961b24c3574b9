import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../../src/store/dialects/sqlite.js';
import { migrateToLatest } from '../../../src/store/migrate.js';
import { newDataDirectory } from '../temporary-directory.js';

/** A closed file with empty tables, made by the first caller of a run: migrations are slow. */
export async function migratedSqliteFile(): Promise<string> {
  const folder = process.env.TEST_DATA_FOLDER;
  if (!folder) {
    throw new Error(
      'Run this through jest with test/jest.config.js, whose global set-up makes a folder for data.',
    );
  }
  const file = join(folder, 'migrated.db');
  if (!existsSync(file)) {
    const making = newDataDirectory();
    const database = openSqlite(join(making, 'integration.db'));
    await migrateToLatest(database.patient);
    await database.close();
    // Whole at once; should another worker have made one meanwhile, both are the same.
    renameSync(join(making, 'integration.db'), file);
    rmSync(making, { recursive: true, force: true });
  }
  return file;
}
