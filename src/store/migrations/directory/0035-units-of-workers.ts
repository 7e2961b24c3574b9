import { type Kysely, PostgresAdapter, sql } from 'kysely';

/**
 * On SQLite, makes `worker_units` one tree by worker; it was a tree of rows and one of keys. A list of
 * workers then reads a page less per worker: in a large database, pages are in no cache of the processor.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  if (db.getExecutor().adapter instanceof PostgresAdapter) {
    return;
  }
  await sql`create temp table units_of_workers as select * from worker_units`.execute(db);
  // Not renamed: SQLite would check triggers of other tables that name it.
  await db.schema.dropTable('worker_units').execute();
  await db.schema
    .createTable('worker_units')
    .addColumn('worker_id', 'text', (column) => column.notNull().references('workers.id'))
    .addColumn('unit_id', 'text', (column) => column.notNull().references('units.id'))
    .addColumn('position', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('worker_units_pair', ['worker_id', 'unit_id'])
    .modifyEnd(sql`without rowid`)
    .execute();
  await sql`
    insert into worker_units (worker_id, unit_id, position)
    select worker_id, unit_id, position from temp.units_of_workers order by worker_id, unit_id
  `.execute(db);
  await sql`drop table temp.units_of_workers`.execute(db);
  await db.schema.createIndex('worker_units_by_unit').on('worker_units').column('unit_id').execute();
}
