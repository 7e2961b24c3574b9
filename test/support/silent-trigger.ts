import { sql } from 'kysely';
import type { Database } from '../../src/store/database.js';
import type { DatabaseUnderTest } from './databases.js';

interface Silenced {
  table: string;
  event: 'insert' | 'update' | 'delete';
  /** A condition on `new` and `old`. */
  when?: string;
}

/** Plants a trigger that drops writes without an error, as a person with access to the database could. */
export async function plantSilentTrigger(
  { write }: Pick<Database, 'write'>,
  kind: DatabaseUnderTest['kind'],
  { table, event, when = '1 = 1' }: Silenced,
  name = 'hush',
): Promise<void> {
  const statements =
    kind === 'SQLite'
      ? [`create trigger ${name} before ${event} on ${table} when ${when} begin select raise(ignore); end`]
      : [
          `create function ${name}() returns trigger language plpgsql as 'begin return null; end'`,
          `create trigger ${name} before ${event} on ${table} for each row when (${when}) execute function ${name}()`,
        ];
  await write(async (writer) => {
    for (const statement of statements) {
      await sql.raw(statement).execute(writer);
    }
  });
}
