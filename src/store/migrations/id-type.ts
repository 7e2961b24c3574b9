import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';

/**
 * Ids stand in the order of their bytes on both databases, so that pages and ties come out alike. PostgreSQL would take the language
 * of the server, which also changes with its libraries.
 */
export function idType(db: Kysely<unknown>): 'text' | RawBuilder<string> {
  return db.getExecutor().adapter instanceof PostgresAdapter ? sql<string>`text collate "C"` : 'text';
}
