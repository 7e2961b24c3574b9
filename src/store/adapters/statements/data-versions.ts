import { newVersion } from '../../../domain/version.js';
import type { Writer } from '../../database.js';
import { takeTurn } from '../../dialects/turns.js';
import type { Schema } from '../../schema.js';
import { keptPosted } from './kept-statement.js';

/** Writes a row, made if missing, to lock it until the commit on PostgreSQL; SQLite has one writer. */
export async function lock(writer: Writer, subjectIds: readonly string[]): Promise<void> {
  for (const id of subjectIds) {
    takeTurn(writer, id);
    await holding(writer, { subject_id: id, version: newVersion() });
  }
}

export async function touch(writer: Writer, subjectIds: readonly string[]): Promise<void> {
  for (const id of new Set(subjectIds)) {
    takeTurn(writer, id);
    await renewal(writer, { subject_id: id, version: newVersion() });
  }
}

/** Writes the row of a subject, made if missing, with this version. */
const writing = (version: 'data_versions.version' | 'excluded.version') =>
  keptPosted((db, row: Schema['data_versions']) =>
    db
      .insertInto('data_versions')
      .values(row)
      .onConflict((conflict) =>
        conflict.column('subject_id').doUpdateSet(({ ref }) => ({ version: ref(version) })),
      ),
  );
const holding = writing('data_versions.version');
const renewal = writing('excluded.version');
