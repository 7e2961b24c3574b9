import { sql } from 'kysely';
import type { SealedPlace, SealStore } from '../../domain/operator/rows/encryption-keys.js';
import type { Database, Reader, Writer } from '../database.js';
import { refuseOutdated } from '../migrate.js';
import { newestMigration } from '../migrations/index.js';
import {
  assertNotRetired,
  databaseNow,
  encryptionKeyRows,
  SEALED_COLUMNS,
} from './operator/encryption-keys.js';
import { isPostgres } from './statements/dialect.js';
import { changedRows, findsAny, keptPosted } from './statements/kept-statement.js';
import { lock } from './unit-of-work.js';

const LOCK = 'encryption-keys';
/** When the row of a killed node is removed. */
const FORGET_HOLDERS_AFTER_MS = 86_400_000;

export function sealStore({ reader, write }: Database): SealStore {
  return {
    keys: encryptionKeyRows(reader),
    places: Object.keys(SEALED_COLUMNS) as SealedPlace[],
    begin: (key, tokenKeys) =>
      write(async (writer) => {
        const isFirst = await encryptionKeyRows(writer).insert(key);
        if (isFirst) {
          await addTokenKeys(writer, tokenKeys, key.activatedAt);
        }
      }),
    addTokenKeys: (tokenKeys, now) => write((writer) => addTokenKeys(writer, tokenKeys, now)),
    tokenKeys: () => reader.selectFrom('token_keys').select(['purpose', 'sealed']).execute(),
    hasAuditChains: () => hasAuditChains(reader),
    announce: ({ node, keyIds, usedId, issuer }) =>
      write(async (writer) => {
        await lock(writer, [LOCK]);
        await withoutReplica(writer);
        const now = databaseNow(writer);
        const row = {
          key_ids: JSON.stringify(keyIds),
          used_id: usedId,
          issuer,
          newest_migration: newestMigration,
          seen_at: now,
        };
        await writer
          .insertInto('encryption_key_holders')
          .values({ node, ...row })
          .onConflict((conflict) => conflict.column('node').doUpdateSet(row))
          .execute();
        // While this node was frozen, other nodes may have migrated past its version.
        await refuseOutdated(writer);
        await writer
          .deleteFrom('encryption_key_holders')
          .where('seen_at', '<', sql<number>`${now} - ${sql.lit(FORGET_HOLDERS_AFTER_MS)}`)
          .execute();
      }),
    leave: (node) =>
      write(async (writer) => {
        await writer.deleteFrom('encryption_key_holders').where('node', '=', node).execute();
        await withoutReplica(writer);
      }),
    withoutId: (place) => sealsWhere(reader, place, (sealed) => sql`substr(${sealed}, 1, 3) <> 'ek_'`, '', 1),
    notOf: (place, keyId, after, limit) => {
      const begins = `${keyId}.`;
      const other = (sealed: unknown) => sql`substr(${sealed}, 1, ${sql.lit(begins.length)}) <> ${begins}`;
      return sealsWhere(reader, place, other, after, limit);
    },
    replace: (place, replacements) =>
      write(async (writer) => {
        await assertNotRetired(
          writer,
          replacements.map(({ to }) => to),
        );
        const { table, name, sealed } = SEALED_COLUMNS[place];
        let replaced = 0;
        for (const { name: of, from, to } of replacements) {
          // Skips rows that were deleted, or sealed anew by another node.
          const replacement = sql`
            update ${sql.table(table)} set ${sql.ref(sealed)} = ${to}
            where ${sql.ref(name)} = ${of} and ${sql.ref(sealed)} = ${from}
          `;
          replaced += changedRows(await replacement.execute(writer));
        }
        return replaced;
      }),
  };
}

const commitHere = keptPosted(() => sql`select set_config('synchronous_commit', 'local', true)`);

/**
 * The commit waits for no replica, so that a domain can start and serve reads while none confirms. A promoted
 * replica may lack the commit: the next announcement repeats it, and a node that left counts as killed.
 */
async function withoutReplica(writer: Writer): Promise<void> {
  if (isPostgres(writer)) {
    await commitHere(writer, {});
  }
}

/** The service does not start on such a database. */
export async function lacksAuditKey(reader: Reader): Promise<boolean> {
  const key = reader.selectFrom('token_keys').where('purpose', '=', 'audit').select('purpose');
  return (await hasAuditChains(reader)) && !(await findsAny(key));
}

function hasAuditChains(reader: Reader): Promise<boolean> {
  return findsAny(reader.selectFrom('audit_events').where('chain', '>', '').select('id'));
}

async function addTokenKeys(
  writer: Writer,
  tokenKeys: readonly { purpose: string; sealed: string }[],
  now: number,
): Promise<void> {
  await assertNotRetired(
    writer,
    tokenKeys.map(({ sealed }) => sealed),
  );
  await writer
    .insertInto('token_keys')
    .values(tokenKeys.map((each) => ({ ...each, created_at: now })))
    .onConflict((conflict) => conflict.column('purpose').doNothing())
    .execute();
}

async function sealsWhere(
  db: Writer,
  place: SealedPlace,
  condition: (sealed: unknown) => ReturnType<typeof sql>,
  after: string,
  limit: number,
): Promise<{ name: string; sealed: string }[]> {
  const { table, name, sealed } = SEALED_COLUMNS[place];
  const { rows } = await sql<{ name: string; sealed: string }>`
    select ${sql.ref(name)} as name, ${sql.ref(sealed)} as sealed from ${sql.table(table)}
    where ${sql.ref(name)} > ${after} and ${condition(sql.ref(sealed))}
    order by ${sql.ref(name)} limit ${limit}
  `.execute(db);
  return rows;
}
