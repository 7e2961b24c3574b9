import { type Kysely, PostgresAdapter, sql } from 'kysely';

/**
 * On PostgreSQL the digests become a view, which computes them for each reader. Before, triggers updated a
 * row: writers of one client waited for each other, and each update left a dead version of the row, through
 * which the next updates of the same transaction had to go. SQLite has no such versions, and one writer.
 *
 * A node that does not know this step reads the view as it read the table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  if (db.getExecutor().adapter instanceof PostgresAdapter) {
    for (const statement of COMPUTED) {
      await sql.raw(statement).execute(db);
    }
  }
}

const MODULUS = 2 ** 52;

const COMPUTED = [
  // In the mode that the next statements need: to raise a lesser lock could deadlock with a writer.
  'lock table changes in access exclusive mode',
  'drop trigger changes_counted on changes',
  'drop trigger changes_recounted on changes',
  'drop function changes_counted()',
  'drop function changes_recounted()',
  'drop table change_digests',
  // Has all that the view reads.
  'create index changes_of_client on changes (client_id, entity_type) include (version) where removed = 0',
  `create view change_digests as
    select client_id, entity_type, count(*) as entities, mod(sum(version), ${MODULUS})::bigint as digest
    from changes where removed = 0 group by client_id, entity_type`,
];
