import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';

/** Byte order on both databases, so that pages and ties are equal. PostgreSQL's default is the locale. */
export function idType(db: Kysely<unknown>): 'text' | RawBuilder<string> {
  return db.getExecutor().adapter instanceof PostgresAdapter ? sql<string>`text collate "C"` : 'text';
}
