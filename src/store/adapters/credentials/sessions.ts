import type { AccountId } from '../../../../generated/ids.js';
import type { Session, SessionAccount, SessionRows } from '../../../domain/credentials/access.js';
import { camelCased, type Tables, type Writer } from '../../database.js';
import { posted, statement } from '../statements/kept-statement.js';
import { plainWrites } from '../statements/plain-writes.js';

type Row = Tables['sessions'];

const byToken = statement((db, { hash }: { hash: string }) =>
  db.selectFrom('sessions').where('tokenHash', '=', hash).selectAll(),
);

const trimming = statement((db, { accountId, count }: { accountId: string; count: number }) =>
  db
    .deleteFrom('sessions')
    .where('accountId', '=', accountId)
    .where('id', 'not in', (inner) =>
      inner
        .selectFrom('sessions')
        .where('accountId', '=', accountId)
        .orderBy('lastSeenAt', 'desc')
        .orderBy('authenticatedAt', 'desc')
        .orderBy('id')
        .limit(count)
        .select('id'),
    )
    .returning('id'),
);

const sighting = posted((db, { id, at }: { id: string; at: number }) =>
  db.updateTable('sessions').set({ lastSeenAt: at }).where('id', '=', id).where('lastSeenAt', '<', at),
);

const choice = posted(
  (db, { id, authenticatedAt, contexts }: { id: string; authenticatedAt: number; contexts: string | null }) =>
    db
      .updateTable('sessions')
      .set({ contexts })
      .where('id', '=', id)
      .where('authenticatedAt', '=', authenticatedAt),
);

export function sessionRows(writer: Writer): SessionRows {
  const db = camelCased(writer);
  const writes = plainWrites(db, 'sessions');
  return {
    findByToken: async (tokenHash) => {
      const [row] = (await byToken(db, { hash: tokenHash })).rows;
      return row && toSession(row);
    },
    page: async (accountId, afterId, limit) => {
      const found = await db
        .selectFrom('sessions')
        .where('accountId', '=', accountId)
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit)
        .selectAll()
        .execute();
      return found.map(toSession);
    },
    insert: (session) => writes.insert(toRow(session)),
    keepNewest: async (accountId, count) =>
      (await trimming(db, { accountId, count })).rows.map(({ id }) => id),
    // A session that ended in the meantime stays ended.
    update: (session) => writes.update(toRow(session)),
    noteSeen: (id, at) => sighting(db, { id, at }),
    noteContexts: (id, account) =>
      choice(db, { id, authenticatedAt: account.authenticatedAt, contexts: textOf(account) }),
    delete: writes.delete,
    deleteOfAccount: async (accountId) => {
      await db.deleteFrom('sessions').where('accountId', '=', accountId).execute();
    },
  };
}

function toSession({ accountId, authenticatedAt, contexts, ...session }: Row): Session {
  if (accountId === null || authenticatedAt === null) {
    return { ...session, account: null };
  }
  const chosen = contexts === null ? {} : { contexts: JSON.parse(contexts) };
  return { ...session, account: { id: accountId as AccountId, authenticatedAt, ...chosen } };
}

function textOf({ contexts }: SessionAccount): string | null {
  return contexts ? JSON.stringify(contexts) : null;
}

function toRow({ account, ...session }: Session): Row {
  return {
    ...session,
    accountId: account?.id ?? null,
    authenticatedAt: account?.authenticatedAt ?? null,
    contexts: account && textOf(account),
  };
}
