import { sql } from 'kysely';
import type { SignOnChanges } from '../../../../src/domain/sign-on/sign-on.js';
import { signOnUnitOfWork } from '../../../../src/store/adapters/sign-on/unit-of-work.js';
import type { Database } from '../../../../src/store/database.js';
import { fakeClock } from '../../../domain/clock.js';
import type { DatabaseUnderTest } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { plantAccount } from '../../directory-rows.js';

/** A migrated database with the unit of work of sign-on over it. */
export async function signOnRig(under: DatabaseUnderTest, opened?: Database) {
  const database = opened ?? (await under.openMigrated());
  const clock = fakeClock();
  const { run, rows } = signOnUnitOfWork({ ...database, clock: clock.now });
  return {
    database,
    clock,
    now: clock.now(),
    run,
    rows,
    newAccount: async () => (await plantAccount(database)).id,
    /** Runs it so many times at once, each in a transaction, and returns how often it returned true. */
    yesesOf: async (times: number, work: (changes: SignOnChanges) => Promise<boolean>) => {
      const answers = await Promise.all(Array.from({ length: times }, () => run(work)));
      return answers.filter(Boolean).length;
    },
  };
}

/** Waits until a transaction waits for a locked row. On SQLite transactions are sequential. */
export async function untilOneWaits({ reader, writesInOrder }: Database): Promise<void> {
  if (!writesInOrder) {
    await eventually('a transaction that waits', async () => {
      const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      return (await waiting.execute(reader)).rows.length > 0;
    });
  }
}
