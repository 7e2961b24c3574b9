import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../adapters/statements/dialect.js';
import { runScript } from './script.js';

/**
 * The history of PostgreSQL in which a life began: the server and its timeline. A promoted replica, a server
 * restored to a point in time, and another server with the same rows have another one. They may lack what
 * readers have read, and give its positions again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runScript(db, 'alter table change_lives add column history text');
  if (isPostgres(db)) {
    await sql.raw(HISTORY).execute(db);
    await sql`update change_lives set history = server_history() where last_position is null`.execute(db);
  }
}

const UNTOLD =
  'object_not_in_prerequisite_state or feature_not_supported or insufficient_privilege or undefined_function';

/** Null on a replica. Without what the server does not tell: Aurora, for example, has no timeline. */
const HISTORY = `create function server_history() returns text language plpgsql as $$
declare
  server text := '';
begin
  if pg_is_in_recovery() then
    return null;
  end if;
  begin
    server := (select system_identifier from pg_control_system())::text;
  exception
    when ${UNTOLD} then null;
  end;
  return server || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8);
exception
  when ${UNTOLD} then return server;
end $$`;
