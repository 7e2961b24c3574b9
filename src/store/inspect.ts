import type { Check, CheckSettings, Found } from './checks/check.js';
import { checks } from './checks/index.js';
import { sqliteFileIn } from './copies/sqlite-copy.js';
import type { Reader } from './database.js';
import { openPostgresReader } from './dialects/postgres.js';
import { openSqliteReader } from './dialects/sqlite.js';
import { refuseUnlessMigrated } from './migrate.js';

export interface Inspection extends Pick<Check, 'name' | 'about' | 'remedy'>, Found {}

export interface InspectOptions extends CheckSettings {
  dataDir: string;
  databaseUrl?: string;
}

/** Checks for damage without writing or migrating. The service may run meanwhile. */
export async function inspectDatabase({
  dataDir,
  databaseUrl,
  ...settings
}: InspectOptions): Promise<Inspection[]> {
  const { reader, close } =
    databaseUrl === undefined
      ? openSqliteReader(sqliteFileIn(dataDir))
      : await openPostgresReader(databaseUrl);
  try {
    await refuseUnlessMigrated(reader);
    return await inspect(reader, settings);
  } finally {
    await close();
  }
}

export async function inspect(reader: Reader, settings: CheckSettings): Promise<Inspection[]> {
  const inspections: Inspection[] = [];
  for (const { name, about, remedy, find } of checks) {
    inspections.push({ name, about, remedy, ...(await find(reader, settings)) });
  }
  return inspections;
}
