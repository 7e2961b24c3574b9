import { sql } from 'kysely';
import type { Reader } from '../database.js';
import { isServerRefusal } from '../dialects/postgres/trouble.js';

export const NO_REPLICA = 'DATABASE_REPLICA_URL leads to a server that is not a replica, or was promoted';

/** A replica has the system identifier of its primary, also after a promotion; the oid names the database. */
const DATABASE = sql<{ database: string }>`
  select concat_ws(' ', system_identifier, oid) as database
  from pg_control_system(), pg_database where datname = current_database()`;

/** Throws unless `replica` is a standby and a copy of the database of `primary`. */
export async function assertReplicaOf(primary: Reader, replica: Reader): Promise<void> {
  const { rows } = await sql<{ follows: boolean }>`select pg_is_in_recovery() as follows`.execute(replica);
  if (!rows[0]?.follows) {
    throw new Error(NO_REPLICA);
  }
  const [expected, found] = await Promise.all([databaseOf(primary), databaseOf(replica)]);
  if (expected !== undefined && found !== undefined && found !== expected) {
    throw new Error('DATABASE_REPLICA_URL leads to another database than DATABASE_URL');
  }
}

/** Undefined if the server refuses to tell, as some managed ones do. */
async function databaseOf(reader: Reader): Promise<string | undefined> {
  try {
    return (await DATABASE.execute(reader)).rows[0]?.database;
  } catch (error) {
    if (isServerRefusal(error)) {
      return undefined;
    }
    throw error;
  }
}
