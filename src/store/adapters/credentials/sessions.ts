import type { AccountId } from '../../../../generated/ids.js';
import type { Session, SessionRows } from '../../../domain/credentials/sessions.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { keptStatement } from '../kept-statement.js';

type Row = Schema['sessions'];

const byToken = keptStatement((db, { hash }: { hash: string }) =>
  db.selectFrom('sessions').where('token_hash', '=', hash).selectAll(),
);

const insertion = keptStatement((db, row: Row) => db.insertInto('sessions').values(row));

const renewal = keptStatement((db, { id, ...fields }: Row) =>
  db.updateTable('sessions').set(fields).where('id', '=', id),
);

const trimming = keptStatement((db, { accountId, count }: { accountId: string; count: number }) =>
  db
    .deleteFrom('sessions')
    .where('account_id', '=', accountId)
    .where('id', 'not in', (inner) =>
      inner
        .selectFrom('sessions')
        .where('account_id', '=', accountId)
        .orderBy('last_seen_at', 'desc')
        .orderBy('authenticated_at', 'desc')
        .orderBy('id')
        .limit(count)
        .select('id'),
    ),
);

const sighting = keptStatement((db, { id, at }: { id: string; at: number }) =>
  db.updateTable('sessions').set({ last_seen_at: at }).where('id', '=', id).where('last_seen_at', '<', at),
);

export function sessionRows(db: Writer): SessionRows {
  return {
    findByToken: async (tokenHash) => {
      const [row] = (await byToken(db, { hash: tokenHash })).rows;
      return row && toSession(row);
    },
    insert: async (session) => {
      await insertion(db, toRow(session));
    },
    keepNewest: async (accountId, count) => {
      await trimming(db, { accountId, count });
    },
    // A session that ended in the meantime stays ended.
    update: async (session) => {
      await renewal(db, toRow(session));
    },
    noteSeen: async (id, at) => {
      await sighting(db, { id, at });
    },
    delete: async (id) => {
      await db.deleteFrom('sessions').where('id', '=', id).execute();
    },
    deleteOfAccount: async (accountId) => {
      await db.deleteFrom('sessions').where('account_id', '=', accountId).execute();
    },
  };
}

function toSession({ id, began_as, token_hash, account_id, authenticated_at, ...times }: Row): Session {
  return {
    id,
    beganAs: began_as,
    tokenHash: token_hash,
    account:
      account_id === null || authenticated_at === null
        ? null
        : { id: account_id as AccountId, authenticatedAt: authenticated_at },
    lastSeenAt: times.last_seen_at,
    expiresAt: times.expires_at,
  };
}

function toRow(session: Session): Row {
  return {
    id: session.id,
    began_as: session.beganAs,
    token_hash: session.tokenHash,
    account_id: session.account?.id ?? null,
    authenticated_at: session.account?.authenticatedAt ?? null,
    last_seen_at: session.lastSeenAt,
    expires_at: session.expiresAt,
  };
}
