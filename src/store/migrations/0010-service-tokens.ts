import type { Kysely } from 'kysely';
import { idType } from './id-type.js';

/** The one instance that a platform token reaches; without one it reaches all, as those of before do. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('service_tokens').addColumn('instance_id', idType(db)).execute();
}
