import { type RawBuilder, sql } from 'kysely';
import {
  type EncryptionKeyRows,
  GONE_AFTER_MS,
  type UsedEncryptionKey,
} from '../../../domain/operator/encryption-keys.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { isPostgres } from '../webhooks/dialect-words.js';
import { kept } from '../webhooks/row-locks.js';

/**
 * Every column that holds seals, with the column of the name that each is sealed for. A new one is entered here, and what writes it calls `assertNotRetired`, or its
 * key is retired under it.
 */
export const SEALED_COLUMNS = {
  'signing-keys': { table: 'signing_keys', name: 'kid', sealed: 'sealed_private_key' },
  'webhook-secrets': { table: 'subscription_secrets', name: 'id', sealed: 'sealed' },
  'token-keys': { table: 'token_keys', name: 'purpose', sealed: 'sealed' },
} as const;

/** As long as every id of a key. */
const ID_LENGTH = 'ek_0123456789abcdef'.length;
/** A node notices a rotation sooner. */
const RETRY_AFTER_SECONDS = 3;

export function encryptionKeyRows(db: Writer): EncryptionKeyRows {
  return {
    all: () => usedKeys(db),
    insert: async (key) => {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('encryption_keys')
        .values(toRow(key))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow();
      return Number(numInsertedOrUpdatedRows) > 0;
    },
    retire: async (id, now) => {
      const { numUpdatedRows } = await db
        .updateTable('encryption_keys')
        .set({ retired_at: now })
        .where('id', '=', id)
        .where('retired_at', 'is', null)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
    holders: async () => {
      const rows = await db
        .selectFrom('encryption_key_holders')
        .where('seen_at', '>', sql<number>`${databaseNow(db)} - ${sql.lit(GONE_AFTER_MS)}`)
        .orderBy('node')
        .selectAll()
        .execute();
      return rows.map(({ node, key_ids, used_id }) => ({
        node,
        keyIds: JSON.parse(key_ids) as string[],
        usedId: used_id,
      }));
    },
    sealCounts: () => sealCounts(db),
  };
}

/** In milliseconds: one clock for all nodes. SQLite has that of its machine, which is theirs. */
export function databaseNow(db: Writer): RawBuilder<number> {
  return isPostgres(db)
    ? sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
    : sql`cast(unixepoch('subsec') * 1000 as integer)`;
}

/**
 * For every transaction that writes seals: whoever sealed with a key that was retired meanwhile is told to come again, as the key files lose it. A retirement under way
 * waits for this transaction, and finds what it wrote.
 */
export async function assertNotRetired(db: Writer, seals: readonly string[]): Promise<void> {
  const ids = new Set(seals.filter(hasId).map((seal) => seal.slice(0, ID_LENGTH)));
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

function hasId(seal: string): boolean {
  return seal.startsWith('ek_');
}

export async function usedKeys(db: Writer): Promise<UsedEncryptionKey[]> {
  const rows = await db.selectFrom('encryption_keys').orderBy('position', 'desc').selectAll().execute();
  return rows.map(({ id, position, activated_at, retired_at }) => ({
    id,
    position,
    activatedAt: activated_at,
    retiredAt: retired_at,
  }));
}

function toRow({ id, position, activatedAt, retiredAt }: UsedEncryptionKey): Schema['encryption_keys'] {
  return { id, position, activated_at: activatedAt, retired_at: retiredAt };
}

/** Seals without an id are of the first key. */
export async function sealCounts(db: Writer): Promise<Map<string, number>> {
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
