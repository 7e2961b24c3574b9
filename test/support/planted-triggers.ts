import { sql } from 'kysely';
import type { Database } from '../../src/store/database.js';
import type { DatabaseUnderTest } from './databases.js';

type Kind = DatabaseUnderTest['kind'];
type Written = Pick<Database, 'write'>;

interface Silenced {
  table: string;
  event: 'insert' | 'update' | 'delete';
  /** A condition on `new` and `old`. */
  when?: string;
}

/** Drops writes without an error, as a trigger of a person with access to the database could. */
export function plantSilentTrigger(
  database: Written,
  kind: Kind,
  { table, event, when = '1 = 1' }: Silenced,
  name = 'hush',
): Promise<void> {
  const drops = kind === 'SQLite' ? 'select raise(ignore)' : 'return null';
  return plantTrigger(database, kind, `before ${event} on ${table}`, drops, { name, when });
}

/** A trigger for each row, such as `after insert on audit_events`, that runs the statement. */
export async function plantTrigger(
  { write }: Written,
  kind: Kind,
  at: string,
  statement: string,
  { name = 'planted', when = '1 = 1' } = {},
): Promise<void> {
  const statements =
    kind === 'SQLite'
      ? [`create trigger ${name} ${at} when ${when} begin ${statement}; end`]
      : [
          `create function ${name}() returns trigger language plpgsql as 'begin ${statement}; return null; end'`,
          `create trigger ${name} ${at} for each row when (${when}) execute function ${name}()`,
        ];
  await write(async (writer) => {
    for (const each of statements) {
      await sql.raw(each).execute(writer);
    }
  });
}
