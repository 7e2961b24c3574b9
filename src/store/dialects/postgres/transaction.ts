import { Kysely, type KyselyProps } from 'kysely';
import type { LentConnection } from './lent-connection.js';

/**
 * Runs the work as one transaction, as Kysely would, but with fewer round trips: statements do not wait for
 * each other unless the work does, and `begin` is sent with the first one.
 */
export function inTransaction<Tables, T>(
  db: Kysely<Tables>,
  work: (transaction: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  const executor = db.getExecutor();
  return executor.provideConnection(async (connection) => {
    const lent = connection as LentConnection;
    // Kysely's own provider for one connection would make each statement wait for the answer to the last.
    const ofTransaction = executor.withConnectionProvider({ provideConnection: (use) => use(lent) });
    const transaction = new Kysely<Tables>({ ...UNUSED, executor: ofTransaction });
    lent.beginWithFirst();
    let done: T;
    try {
      done = await work(transaction).finally(() => lent.end());
    } catch (error) {
      await lent.rollback();
      throw lent.refusal ?? error;
    }
    try {
      await lent.commit();
    } catch (error) {
      await lent.rollback();
      throw error;
    }
    return done;
  });
}

/** What Kysely needs to begin transactions: this is one. */
const UNUSED = { config: {}, driver: {}, dialect: {} } as unknown as Omit<KyselyProps, 'executor'>;
