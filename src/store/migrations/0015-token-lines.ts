import type { Kysely } from 'kysely';
import { idType } from './id-type.js';

/** Successors of a token share its idempotency keys; existing tokens use their own. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('service_tokens').addColumn('owner_id', idType(db)).execute();
}
