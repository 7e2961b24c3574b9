import type { AccountId } from '../../../../generated/ids.js';
import type { CredentialRows } from '../../../domain/credentials/access.js';
import type { EmailChange, EmailChangeRows } from '../../../domain/credentials/email-changes.js';
import type { AccountLink, LinkRows } from '../../../domain/credentials/links.js';
import type { IntegrationNotice, NoticeRows, WaitingNotices } from '../../../domain/credentials/notices.js';
import type { PasswordRows } from '../../../domain/credentials/passwords.js';
import { camelCased, type Rows, type Writer } from '../../database.js';
import { changedOne, changedRows, statement } from '../statements/kept-statement.js';
import { oldestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';
import { consentRows } from './consents.js';
import { grantRows } from './grants.js';
import { sessionRows } from './sessions.js';

export function credentialRows(writer: Writer): CredentialRows {
  const db = camelCased(writer);
  return {
    passwords: passwordRows(db),
    links: linkRows(db),
    emailChanges: emailChangeRows(db),
    notices: noticeRows(db),
    sessions: sessionRows(writer),
    grants: grantRows(writer),
    consents: consentRows(writer),
  };
}

const ofAccount = statement((db, { accountId }: { accountId: string }) =>
  db.selectFrom('passwords').where('accountId', '=', accountId).select(['hash', 'setAt']),
);

function passwordRows(db: Rows): PasswordRows {
  return {
    find: async (accountId) => (await ofAccount(db, { accountId })).rows[0],
    set: async (accountId, hash, at) => {
      await db
        .insertInto('passwords')
        .values({ accountId, hash, setAt: at })
        .onConflict((conflict) => conflict.column('accountId').doUpdateSet({ hash, setAt: at }))
        .execute();
    },
  };
}

function linkRows(db: Rows): LinkRows {
  return {
    find: (tokenHash) =>
      db
        .selectFrom('accountLinks')
        .where('tokenHash', '=', tokenHash)
        .selectAll()
        .$narrowType<Pick<AccountLink, 'accountId'>>()
        .executeTakeFirst(),
    insert: plainWrites(db, 'accountLinks').insert,
    use: async (tokenHash, now) => {
      const use = db
        .updateTable('accountLinks')
        .set({ endedAt: now })
        .where('tokenHash', '=', tokenHash)
        .where('endedAt', 'is', null)
        .where('expiresAt', '>', now);
      return changedOne(await db.executeQuery(use));
    },
    endOfAccount: async (accountId, purposes, now) => {
      if (purposes.length > 0) {
        await db
          .updateTable('accountLinks')
          .set({ endedAt: now })
          .where('accountId', '=', accountId)
          .where('purpose', 'in', purposes)
          .where('endedAt', 'is', null)
          .execute();
      }
    },
  };
}

function emailChangeRows(db: Rows): EmailChangeRows {
  const changes = () =>
    db.selectFrom('emailChanges').selectAll().$narrowType<Pick<EmailChange, 'accountId' | 'asker'>>();
  return {
    find: (accountId, asker) =>
      changes().where('accountId', '=', accountId).where('asker', '=', asker).executeTakeFirst(),
    findByLink: (linkHash) => changes().where('linkHash', '=', linkHash).executeTakeFirst(),
    ofAccount: (accountId) =>
      changes().where('accountId', '=', accountId).orderBy('askedAt').orderBy('asker').execute(),
    put: async (change) => {
      await db
        .insertInto('emailChanges')
        .values(change)
        .onConflict((conflict) => conflict.columns(['accountId', 'asker']).doUpdateSet(change))
        .execute();
    },
    take: async (linkHash, now) => {
      const due = db.deleteFrom('emailChanges').where('linkHash', '=', linkHash).where('expiresAt', '>', now);
      return changedOne(await db.executeQuery(due));
    },
    end: async (accountId, asker) => {
      const ended = db
        .deleteFrom('emailChanges')
        .where('accountId', '=', accountId)
        .$if(asker !== undefined, (query) => query.where('asker', '=', asker as string));
      return changedRows(await db.executeQuery(ended));
    },
  };
}

function noticeRows(db: Rows): NoticeRows {
  return {
    insert: plainWrites(db, 'accountNotices').insert,
    page: (page) =>
      oldestFirst(
        db.selectFrom('accountNotices').selectAll().$narrowType<{ accountId: AccountId }>(),
        'account_notices',
        page,
      ),
    remove: removalFrom(db, 'accountNotices'),
  };
}

export function integrationNoticeRows(writer: Writer): WaitingNotices<IntegrationNotice> {
  const db = camelCased(writer);
  return {
    page: (page) => oldestFirst(db.selectFrom('integrationNotices').selectAll(), 'integration_notices', page),
    remove: removalFrom(db, 'integrationNotices'),
  };
}

function removalFrom(db: Rows, table: 'accountNotices' | 'integrationNotices') {
  return async (ids: readonly string[]) => {
    const removed = await db.deleteFrom(table).where('id', 'in', ids).returning('id').execute();
    return removed.map(({ id }) => id).sort();
  };
}
