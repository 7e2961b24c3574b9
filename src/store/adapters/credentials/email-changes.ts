import type { AccountId } from '../../../../generated/ids.js';
import type { Asker, EmailChange, EmailChangeRows } from '../../../domain/credentials/email-changes.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';

type Row = Schema['email_changes'];

export function emailChangeRows(db: Writer): EmailChangeRows {
  const changes = () => db.selectFrom('email_changes').selectAll();
  return {
    find: async (accountId, asker) => {
      const query = changes().where('account_id', '=', accountId).where('asker', '=', asker);
      const row = await query.executeTakeFirst();
      return row && toChange(row);
    },
    findByLink: async (linkHash) => {
      const row = await changes().where('link_hash', '=', linkHash).executeTakeFirst();
      return row && toChange(row);
    },
    ofAccount: async (accountId) => {
      const rows = await changes()
        .where('account_id', '=', accountId)
        .orderBy('asked_at')
        .orderBy('asker')
        .execute();
      return rows.map(toChange);
    },
    put: async (change) => {
      const row = toRow(change);
      await db
        .insertInto('email_changes')
        .values(row)
        .onConflict((conflict) => conflict.columns(['account_id', 'asker']).doUpdateSet(row))
        .execute();
    },
    take: async (linkHash, now) => {
      const { numDeletedRows } = await db
        .deleteFrom('email_changes')
        .where('link_hash', '=', linkHash)
        .where('expires_at', '>', now)
        .executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
    end: async (accountId, asker) => {
      await db
        .deleteFrom('email_changes')
        .where('account_id', '=', accountId)
        .$if(asker !== undefined, (query) => query.where('asker', '=', asker as string))
        .execute();
    },
  };
}

function toChange(row: Row): EmailChange {
  return {
    accountId: row.account_id as AccountId,
    asker: row.asker as Asker,
    email: row.email,
    askedAt: row.asked_at,
    linkHash: row.link_hash,
    expiresAt: row.expires_at,
  };
}

function toRow(change: EmailChange): Row {
  return {
    account_id: change.accountId,
    asker: change.asker,
    email: change.email,
    asked_at: change.askedAt,
    link_hash: change.linkHash,
    expires_at: change.expiresAt,
  };
}
