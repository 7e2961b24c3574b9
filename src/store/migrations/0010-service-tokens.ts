import type { Kysely } from 'kysely';
import { idType } from './id-type.js';

/** The only instance of a platform token; existing tokens reach all. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('service_tokens').addColumn('instance_id', idType(db)).execute();
}
