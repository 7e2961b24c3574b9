import { type Kysely, sql } from 'kysely';
import { emailKeyOf } from '../../domain/platform/people/email-keys.js';
import { rowsById, runScript } from './script.js';

/**
 * Interactions move into page addresses. Guesses wait for turns, and known browsers identify themselves by a
 * signed cookie. Addresses are compared as mailboxes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runScript(
    db,
    `create table finished_interactions (id ID primary key, expires_at bigint not null);
    create index finished_interactions_by_end on finished_interactions (expires_at);
    drop table interactions;
    alter table sessions add column began_as ID;
    delete from sessions where account_id is null;
    alter table attempt_counts add column next_at bigint default 0 not null;
    drop table known_addresses;
    alter table accounts add column same_mailbox_as ID`,
  );
  await keyByMailbox(db);
}

/**
 * One key per mailbox. Where two accounts share one, the plainly spelled or older account gets the key; the
 * other keeps a key of its exact address and is listed for an operator.
 */
export async function keyByMailbox(db: Kysely<unknown>): Promise<void> {
  for (const { id, email, emailKey } of await unlikeTheirKeys(db)) {
    const key = emailKeyOf(email);
    const holder = await sql<{ id: string }>`select id from accounts where email_key = ${key}`.execute(db);
    await (holder.rows[0]
      ? sql`update accounts set same_mailbox_as = ${holder.rows[0].id} where id = ${id}`.execute(db)
      : sql`update accounts set email_key = ${key} where id = ${id}`.execute(db));
    await sql`
      update account_links set email_key = ${key} where account_id = ${id} and email_key = ${emailKey}
    `.execute(db);
  }
}

interface Keyed {
  id: string;
  email: string;
  emailKey: string;
  createdAt: number;
}

const KEYED = sql`id, email, email_key as "emailKey", created_at as "createdAt"`;

async function unlikeTheirKeys(db: Kysely<unknown>): Promise<Keyed[]> {
  const found: Keyed[] = [];
  for await (const account of rowsById<Keyed>(db, 'accounts', KEYED)) {
    if (emailKeyOf(account.email) !== account.emailKey) {
      found.push(account);
    }
  }
  return found.sort((a, b) => Number(a.createdAt) - Number(b.createdAt));
}
