import type { AccountId } from '../../../../generated/ids.js';
import type { AccountLink, LinkRows } from '../../../domain/credentials/links.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';

export function linkRows(db: Writer): LinkRows {
  return {
    find: async (tokenHash) => {
      const row = await db
        .selectFrom('account_links')
        .where('token_hash', '=', tokenHash)
        .selectAll()
        .executeTakeFirst();
      return row && toLink(row);
    },
    insert: async (link) => {
      await db.insertInto('account_links').values(toRow(link)).execute();
    },
    use: async (tokenHash, now) => {
      const { numUpdatedRows } = await db
        .updateTable('account_links')
        .set({ ended_at: now })
        .where('token_hash', '=', tokenHash)
        .where('ended_at', 'is', null)
        .where('expires_at', '>', now)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
    endOfAccount: async (accountId, purposes, now) => {
      if (purposes.length > 0) {
        await db
          .updateTable('account_links')
          .set({ ended_at: now })
          .where('account_id', '=', accountId)
          .where('purpose', 'in', purposes)
          .where('ended_at', 'is', null)
          .execute();
      }
    },
  };
}

function toLink(row: Schema['account_links']): AccountLink {
  return {
    tokenHash: row.token_hash,
    accountId: row.account_id as AccountId,
    purpose: row.purpose,
    emailKey: row.email_key,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    endedAt: row.ended_at,
  };
}

function toRow(link: AccountLink): Schema['account_links'] {
  return {
    token_hash: link.tokenHash,
    account_id: link.accountId,
    purpose: link.purpose,
    email_key: link.emailKey,
    created_at: link.createdAt,
    expires_at: link.expiresAt,
    ended_at: link.endedAt,
  };
}
