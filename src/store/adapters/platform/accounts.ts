import { sql } from 'kysely';
import type {
  AccountId,
  ClientId,
  InstanceId,
  UserId,
  WorkerId,
  WorkerProfileId,
} from '../../../../generated/ids.js';
import {
  type Account,
  type AccountContext,
  type AccountRows,
  emailTaken,
} from '../../../domain/platform/accounts.js';
import { emailKeyOf, exactEmailKeyOf } from '../../../domain/platform/email-keys.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { keptStatement } from '../kept-statement.js';

/** How PostgreSQL and SQLite say that a value must be unique. */
const UNIQUE_VIOLATIONS: ReadonlySet<unknown> = new Set(['23505', 'SQLITE_CONSTRAINT_UNIQUE']);

const byEmail = keptStatement((db, { emailKey, exactKey }: { emailKey: string; exactKey: string }) =>
  db.selectFrom('accounts').where('email_key', 'in', [emailKey, exactKey]).selectAll(),
);

const byId = keptStatement((db, { id }: { id: string }) =>
  db.selectFrom('accounts').where('id', '=', id).selectAll(),
);

export function accountRows(writer: Writer): AccountRows {
  return {
    findByEmail: async (email) => {
      const exactKey = exactEmailKeyOf(email);
      const { rows } = await byEmail(writer, { emailKey: emailKeyOf(email), exactKey });
      const row = rows.find(({ email_key }) => email_key === exactKey) ?? rows[0];
      return row && toAccount(row);
    },
    find: async (id) => {
      const [row] = (await byId(writer, { id })).rows;
      return row && toAccount(row);
    },
    insert: async (account) => {
      const { numInsertedOrUpdatedRows } = await writer
        .insertInto('accounts')
        .values(toRow(account))
        .onConflict((conflict) => conflict.column('email_key').doNothing())
        .executeTakeFirstOrThrow();
      return Number(numInsertedOrUpdatedRows) === 1;
    },
    update: async (account) => {
      const { email_key, ...fields } = toRow(account);
      // Of two accounts that turned out to have one mailbox, one is known by its very address until it gets another.
      const isSame = sql`email = ${account.email}`;
      const update = writer
        .updateTable('accounts')
        .set({
          ...fields,
          email_key: sql<string>`case when ${isSame} then email_key else ${email_key} end`,
          same_mailbox_as: sql<string | null>`case when ${isSame} then same_mailbox_as else null end`,
        })
        .where('id', '=', account.id);
      try {
        await update.execute();
      } catch (error) {
        throw UNIQUE_VIOLATIONS.has((error as { code?: unknown }).code) ? emailTaken(error) : error;
      }
    },
    clientsOf: async (id) => {
      const rows = await writer
        .selectFrom('users')
        .where('account_id', '=', id)
        .select('client_id')
        .union(writer.selectFrom('workers').where('account_id', '=', id).select('client_id'))
        .execute();
      return rows.map((row) => row.client_id as ClientId);
    },
    contextsOf: async (id) => [...(await usersOf(writer, id)), ...(await workersOf(writer, id))],
    namesAround: (id) => namesAround(writer, id),
  };
}

/** Of anybody, in one statement. */
async function namesAround(writer: Writer, id: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with joined (client_id) as (
      select client_id from users where account_id = ${id} union select client_id from workers where account_id = ${id}
    ), places (id) as (
      select distinct instance_id from clients where id in (select client_id from joined)
    )
    select email as name from accounts where id = ${id}
    union all select coalesce(first_name, '') || ' ' || coalesce(last_name, '') from accounts where id = ${id}
    union all select coalesce(full_name, '') from users where account_id = ${id}
    union all select full_name from workers where account_id = ${id}
    union all select name from clients where id in (select client_id from joined)
    union all select name from instances where id in (select id from places)
    union all select applications.name from applications
      inner join application_redirect_uris on application_redirect_uris.application_id = applications.id
      where application_redirect_uris.instance_id in (select id from places)
  `.execute(writer);
  return rows.map(({ name }) => name);
}

async function usersOf(writer: Writer, id: AccountId): Promise<AccountContext[]> {
  const rows = await writer
    .selectFrom('users')
    .innerJoin('clients', 'clients.id', 'users.client_id')
    .where('users.account_id', '=', id)
    .where('users.status', '!=', 'DELETED')
    .orderBy('users.created_at')
    .orderBy('users.id')
    .select(['users.id', 'users.client_id', 'users.status', 'clients.instance_id'])
    .execute();
  return rows.map((row) => ({
    member: { kind: 'user', id: row.id as UserId },
    clientId: row.client_id as ClientId,
    instanceId: row.instance_id as InstanceId,
    enabled: row.status !== 'INACTIVE',
  }));
}

async function workersOf(writer: Writer, id: AccountId): Promise<AccountContext[]> {
  const rows = await writer
    .selectFrom('workers')
    .innerJoin('clients', 'clients.id', 'workers.client_id')
    .where('workers.account_id', '=', id)
    .where('workers.offboarded_at', 'is', null)
    .orderBy('workers.created_at')
    .orderBy('workers.id')
    .select(['workers.id', 'workers.client_id', 'clients.instance_id'])
    .execute();
  return rows.map((row) => ({
    member: { kind: 'worker', id: row.id as WorkerId },
    clientId: row.client_id as ClientId,
    instanceId: row.instance_id as InstanceId,
    enabled: true,
  }));
}

export function toAccount(row: Schema['accounts']): Account {
  return {
    id: row.id as AccountId,
    workerProfileId: row.worker_profile_id as WorkerProfileId,
    email: row.email,
    emailVerifiedAt: row.email_verified_at,
    firstName: row.first_name,
    lastName: row.last_name,
    disabledAt: row.disabled_at,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toRow(account: Account): Schema['accounts'] {
  return {
    id: account.id,
    worker_profile_id: account.workerProfileId,
    email: account.email,
    email_key: emailKeyOf(account.email),
    same_mailbox_as: null,
    email_verified_at: account.emailVerifiedAt,
    first_name: account.firstName,
    last_name: account.lastName,
    disabled_at: account.disabledAt,
    version: account.version,
    created_at: account.createdAt,
    updated_at: account.updatedAt,
  };
}
