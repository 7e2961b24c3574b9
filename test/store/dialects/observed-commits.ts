import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import type { Writer } from '../../../src/store/database.js';
import { type Disk, GroupCommit } from '../../../src/store/dialects/group-commit.js';
import type { Schema } from '../../../src/store/schema.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

/** Writes a note, of which there is one of each name. */
export const note = (name: string) => (writer: Writer) =>
  sql`insert into notes (name) values (${name})`.execute(writer);

/**
 * A real SQLite file under the group commit, with observed statements, injected faults and a slow disk. By
 * its clock, writes take no time.
 */
function observed(
  file: string,
  faults: Record<string, Error> = {},
  disk: Partial<Disk> = {},
  onCommit: () => void = () => undefined,
  now = () => 0,
) {
  const database = new Sqlite(file);
  database.exec('create table if not exists notes (name text primary key)');
  const statements: string[] = [];
  const prepare = (statement: string) => {
    statements.push(statement);
    const fault = faults[statement];
    if (fault) {
      delete faults[statement];
      throw fault;
    }
    return database.prepare(statement);
  };
  const runs = (sql: string) => () => void prepare(sql).run();
  const writer = new Kysely<Schema>({
    dialect: new SqliteDialect({ database: { prepare, close: () => database.close() } }),
  });
  return {
    commits: new GroupCommit(
      writer,
      {
        begin: runs('begin immediate'),
        commit: runs('commit'),
        rollback: runs('rollback'),
        savepoint: runs('savepoint job'),
        release: runs('release job'),
        rollbackToSavepoint: runs('rollback to job'),
        isOpen: () => database.inTransaction,
      },
      { assertSound: () => undefined, done: () => Promise.resolve(), ...disk },
      onCommit,
      now,
    ),
    commitCount: () => statements.filter((statement) => statement === 'commit').length,
    statements,
    names: () => database.prepare('select name from notes order by rowid').pluck().all(),
    close: () => writer.destroy(),
  };
}

/** Call it where a group of tests is described; what was opened is closed after each. */
export function observedCommits() {
  const directory = temporaryDirectories();
  const closing: { close(): Promise<void> }[] = [];
  afterEach(() => Promise.all(closing.splice(0).map((opened) => opened.close())));
  return (
    faults?: Record<string, Error>,
    disk?: Partial<Disk>,
    onCommit?: () => void,
    now?: () => number,
  ) => {
    const opened = observed(join(directory(), 'notes.db'), faults, disk, onCommit, now);
    closing.push(opened);
    return opened;
  };
}
