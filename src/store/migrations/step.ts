import { type Kysely, type Migration, sql } from 'kysely';
import { GONE_AFTER_MS } from '../../domain/operator/encryption-keys.js';
import { isPostgres } from '../adapters/statements/dialect.js';
import { StoreError } from '../store-error.js';

export interface Step extends Migration {
  /**
   * Set if the step removes or changes what the release before uses: the migration that a node must know. The
   * step fails while nodes without it run on the database; afterwards they refuse it.
   */
  readonly required?: string;
}

export function asMigration({ up, required }: Step): Migration {
  return required === undefined ? { up } : { up: (db) => contract(db, up, required) };
}

async function contract(db: Kysely<unknown>, up: Step['up'], required: string): Promise<void> {
  await refuseBeside(db, required);
  await up(db);
  await sql`insert into required_migrations (name) values (${required}) on conflict do nothing`.execute(db);
}

/** On SQLite the only node is the one that migrates. */
async function refuseBeside(db: Kysely<unknown>, required: string): Promise<void> {
  if (!isPostgres(db)) {
    return;
  }
  // Nodes that start meanwhile announce themselves after this step, and are refused then.
  await sql`lock table encryption_key_holders in share row exclusive mode`.execute(db);
  const { rows } = await sql<{ node: string }>`
    select node from encryption_key_holders
    where coalesce(newest_migration, '') collate "C" < ${required}
      and abs(seen_at - extract(epoch from clock_timestamp()) * 1000) < ${sql.lit(GONE_AFTER_MS)}
    order by node
  `.execute(db);
  if (rows.length > 0) {
    const nodes = rows.map(({ node }) => node).join(', ');
    throw new StoreError(
      `Domain nodes without the migration ${required} still run (${nodes}), and this version removes what they use. Update them to the release before this one first. A killed node counts for ${GONE_AFTER_MS / 1_000} s.`,
      { mayPass: true },
    );
  }
}
