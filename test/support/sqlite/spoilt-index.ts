import { Sqlite } from '../../../src/store/better-sqlite3.js';

/** Runs the statement while the schema lacks the index. No other connection may have the file open. */
export function spoilIndex(file: string, index: string, statement: string): void {
  const open = () => {
    const database = new Sqlite(file);
    database.unsafeMode(true);
    database.pragma('writable_schema = on');
    return database;
  };
  const before = open();
  const entry = before.prepare('select * from sqlite_schema where name = ?').get(index);
  before.prepare('delete from sqlite_schema where name = ?').run(index);
  before.close();
  // A new connection does not know the index.
  const without = open();
  without.exec(statement);
  without.prepare('insert into sqlite_schema values (@type, @name, @tbl_name, @rootpage, @sql)').run(entry);
  without.close();
}
