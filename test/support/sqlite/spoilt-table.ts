import { closeSync, openSync, writeSync } from 'node:fs';
import { Sqlite } from '../../../src/store/better-sqlite3.js';

/** Damages the first page of a table, and of each of its indexes, in a database that nothing has open. */
export function spoilTable(file: string, table: string): void {
  const database = new Sqlite(file);
  database.pragma('wal_checkpoint(truncate)');
  const pageSize = database.pragma('page_size', { simple: true }) as number;
  const query = 'select rootpage from sqlite_schema where tbl_name = ? and rootpage > 0';
  const pages = database.prepare(query).pluck().all(table) as number[];
  database.close();
  const descriptor = openSync(file, 'r+');
  for (const page of pages) {
    writeSync(descriptor, Buffer.alloc(pageSize, 0xa5), 0, pageSize, (page - 1) * pageSize);
  }
  closeSync(descriptor);
}
