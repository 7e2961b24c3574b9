import type BetterSqlite3 from 'better-sqlite3';
import type { TransactionControl } from './group-commit.js';

/** Prepared once and run without Kysely, because every write needs them. */
export function transactionControl(database: BetterSqlite3.Database): TransactionControl {
  const runs = (sql: string) => {
    const statement = database.prepare(sql);
    return () => void statement.run();
  };
  return {
    begin: runs('begin immediate'),
    commit: runs('commit'),
    rollback: runs('rollback'),
    savepoint: runs('savepoint job'),
    release: runs('release job'),
    rollbackToSavepoint: runs('rollback to job'),
    isOpen: () => database.inTransaction,
  };
}
