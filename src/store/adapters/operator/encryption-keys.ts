import { sql } from 'kysely';
import type { EncryptionKeyRows, UsedEncryptionKey } from '../../../domain/operator/encryption-keys.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';

/** Every column that holds seals, with the column of the name that each is sealed for. A new one is entered here, or its key is retired under it. */
export const SEALED_COLUMNS = {
  'signing-keys': { table: 'signing_keys', name: 'kid', sealed: 'sealed_private_key' },
  'webhook-secrets': { table: 'subscription_secrets', name: 'id', sealed: 'sealed' },
  'token-keys': { table: 'token_keys', name: 'purpose', sealed: 'sealed' },
} as const;

/** As long as every id of a key. */
const ID_LENGTH = 'ek_0123456789abcdef'.length;

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
      await db
        .updateTable('encryption_keys')
        .set({ retired_at: now })
        .where('id', '=', id)
        .where('retired_at', 'is', null)
        .execute();
    },
    holders: async (since) => {
      const rows = await db
        .selectFrom('encryption_key_holders')
        .where('seen_at', '>', since)
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
