import type { Kysely } from 'kysely';
import { idType } from './id-type.js';

/** Whose idempotency keys a token uses when it succeeds another; those of before use their own. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('service_tokens').addColumn('owner_id', idType(db)).execute();
}
