import { type Kysely, sql } from 'kysely';
import { newVersion } from '../../domain/version.js';
import { contractEmailFor } from '../adapters/directory-columns.js';
import { rowsById, runScript } from './script.js';

/** Addresses from before the contracts' rule. Their clients get a new version: readers see the change. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['accounts', 'workers']) {
    await runScript(db, `alter table ${table} add column contract_email text`);
    for await (const { id, email } of rowsById<{ id: string; email: string }>(db, table, sql`id, email`)) {
      const shown = contractEmailFor(email);
      if (shown !== null) {
        await sql`update ${sql.table(table)} set contract_email = ${shown} where id = ${id}`.execute(db);
      }
    }
  }
  await sql`
    update data_versions set version = ${newVersion()} where subject_id in (
      select client_id from workers where contract_email is not null
      union
      select client_id from users where account_id in (
        select id from accounts where contract_email is not null
      )
    )
  `.execute(db);
}
