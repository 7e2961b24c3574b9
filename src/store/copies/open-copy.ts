import type { AuditMac } from '../../domain/operator/audit-chain.js';
import type { SealStore } from '../../domain/operator/rows/encryption-keys.js';
import { withAuditChains } from '../adapters/operator/audit-chains.js';
import { sealStore } from '../adapters/seals.js';
import { isUnclosed, sqliteFileIn } from '../data-directory.js';
import type { Database } from '../database.js';
import { openPostgres } from '../dialects/postgres/postgres.js';
import { closeKeepingLog, openSqlite } from '../dialects/sqlite.js';

/** The SQLite file of a directory, or a PostgreSQL database. */
export interface DatabasePlace {
  dataDir: string;
  databaseUrl?: string | undefined;
}

/** A database that a command opens and writes to without the service. */
export interface OpenedDatabase extends Pick<Database, 'reader' | 'patient' | 'write' | 'clock' | 'close'> {
  readonly seals: SealStore;
  /** Adds later audit records to the audit chains. */
  chainRecords(mac: AuditMac): void;
}

/** No statement timeouts: one statement may change every row. */
export const UNHURRIED = {
  server: { lockMs: 60_000, statementMs: 0, idleMs: 0 },
  ...{ connectMs: 5_000, answerMs: 0, askMs: 10_000 },
};

/** Opens the database without migrating it. */
export async function openDatabase({ dataDir, databaseUrl }: DatabasePlace): Promise<OpenedDatabase> {
  if (databaseUrl !== undefined) {
    return openedOver(await openPostgres(databaseUrl, () => undefined, UNHURRIED));
  }
  const file = sqliteFileIn(dataDir);
  const wasUnclosed = isUnclosed(dataDir);
  const { close, ...bare } = openSqlite(file);
  return openedOver({ ...bare, close: () => (wasUnclosed ? closeKeepingLog(file, close) : close()) });
}

export function openedOver(bare: Database): OpenedDatabase {
  let mac: AuditMac | undefined;
  const database = withAuditChains(bare, () => mac);
  return {
    ...database,
    seals: sealStore(database),
    chainRecords: (given) => {
      mac = given;
    },
  };
}
