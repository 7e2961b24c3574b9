import { type RawBuilder, sql } from 'kysely';
import { GONE_AFTER_MS } from '../../../domain/operator/encryption-keys.js';
import type { EncryptionKeyRows, UsedEncryptionKey } from '../../../domain/operator/rows/encryption-keys.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { camelCased, type Writer } from '../../database.js';
import { schemaDrift } from '../../migrate.js';
import { isPostgres, kept } from '../statements/dialect.js';
import { changedOne } from '../statements/kept-statement.js';

/**
 * Every column with seals, and the column of the name in each seal. Writers of a column listed here must call
 * `assertNotRetired`; otherwise its key could be retired too early.
 */
export const SEALED_COLUMNS = {
  'signing-keys': { table: 'signing_keys', name: 'kid', sealed: 'sealed_private_key' },
  'webhook-secrets': { table: 'subscription_secrets', name: 'id', sealed: 'sealed' },
  'token-keys': { table: 'token_keys', name: 'purpose', sealed: 'sealed' },
} as const;

/** The length of every key id. */
const ID_LENGTH = 'ek_0123456789abcdef'.length;
/** A node notices a rotation sooner. */
const RETRY_AFTER_SECONDS = 3;

export function encryptionKeyRows(writer: Writer): EncryptionKeyRows {
  const db = camelCased(writer);
  return {
    all: () => usedKeys(writer),
    insert: async (key) => {
      const insertion = db
        .insertInto('encryptionKeys')
        .values(key)
        .onConflict((conflict) => conflict.doNothing());
      return changedOne(await db.executeQuery(insertion));
    },
    retire: async (id, now) => {
      const retirement = db
        .updateTable('encryptionKeys')
        .set({ retiredAt: now })
        .where('id', '=', id)
        .where('retiredAt', 'is', null);
      return changedOne(await db.executeQuery(retirement));
    },
    holders: async () => {
      const rows = await db
        .selectFrom('encryptionKeyHolders')
        // A time far ahead was written before the clock was set back, by a node that was then killed.
        .where(sql<boolean>`abs(seen_at - ${databaseNow(writer)}) < ${sql.lit(GONE_AFTER_MS)}`)
        .orderBy('node')
        .selectAll()
        .execute();
      return rows.map(({ node, keyIds, usedId, issuer }) => ({
        node,
        keyIds: JSON.parse(keyIds) as string[],
        usedId,
        // A database before migration 0026 has no such column.
        issuer: issuer ?? null,
      }));
    },
    sealCounts: () => sealCounts(writer),
    newerMigrations: async () => (await schemaDrift(writer)).newer,
  };
}

/** One clock for all nodes, in milliseconds. On SQLite the clock of the machine, which all nodes share. */
export function databaseNow(db: Writer): RawBuilder<number> {
  return isPostgres(db)
    ? sql`cast(extract(epoch from pg_catalog.clock_timestamp()) * 1000 as bigint)`
    : sql`cast(unixepoch('subsec') * 1000 as integer)`;
}

/**
 * For every transaction that writes seals: refuses, for a retry, keys that were retired meanwhile. A
 * retirement in progress waits for this transaction and finds its seals.
 */
export async function assertNotRetired(db: Writer, seals: readonly string[]): Promise<void> {
  const ids = new Set(seals.filter((seal) => seal.startsWith('ek_')).map((seal) => seal.slice(0, ID_LENGTH)));
  if (ids.size === 0) {
    return;
  }
  const keys = db
    .selectFrom('encryption_keys')
    .where('id', 'in', [...ids])
    .select('retired_at');
  if ((await kept(db, keys).execute()).some(({ retired_at }) => retired_at !== null)) {
    const message = 'The encryption key of the service was replaced a moment ago. Try again.';
    throw new ServiceError(ErrorCode.UNAVAILABLE, message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

function usedKeys(db: Writer): Promise<UsedEncryptionKey[]> {
  return camelCased(db).selectFrom('encryptionKeys').orderBy('position', 'desc').selectAll().execute();
}

/** Seals without an id are of the first key. */
async function sealCounts(db: Writer): Promise<Map<string, number>> {
  const first = (await usedKeys(db)).at(-1)?.id;
  const counts = new Map<string, number>();
  for (const { table, sealed } of Object.values(SEALED_COLUMNS)) {
    const { rows } = await sql<{ key_id: string | null; seals: unknown }>`
      select key_id, count(*) as seals from (
        select case when substr(${sql.ref(sealed)}, 1, 3) = 'ek_'
          then substr(${sql.ref(sealed)}, 1, ${sql.lit(ID_LENGTH)}) end as key_id
        from ${sql.table(table)}
      ) as seal group by key_id
    `.execute(db);
    for (const { key_id, seals } of rows) {
      const id = key_id ?? first ?? '';
      counts.set(id, (counts.get(id) ?? 0) + Number(seals));
    }
  }
  return counts;
}
