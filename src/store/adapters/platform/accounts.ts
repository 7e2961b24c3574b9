import { type SqlBool, sql } from 'kysely';
import type { AccountId, ClientId, InstanceId, UserId, WorkerId } from '../../../../generated/ids.js';
import { MAY_SIGN_IN } from '../../../domain/directory/names.js';
import { emailTaken } from '../../../domain/platform/people/accounts.js';
import { emailKeyOf, exactEmailKeyOf } from '../../../domain/platform/people/email-keys.js';
import type { Account, AccountContext, AccountRows } from '../../../domain/platform/rows/people.js';
import { camelCased, type Database, type Rows, type Tables, type Writer } from '../../database.js';
import { IS_PRESENT } from '../directory.js';
import { contractEmailFor } from '../directory-columns.js';
import { isPostgres } from '../statements/dialect.js';
import { changedOne, statement } from '../statements/kept-statement.js';

/** The codes of PostgreSQL and SQLite for a unique violation. */
const UNIQUE_VIOLATIONS: ReadonlySet<unknown> = new Set(['23505', 'SQLITE_CONSTRAINT_UNIQUE']);

export type AccountIds = Pick<Account, 'id' | 'workerProfileId'>;

export const ACCOUNT_COLUMNS = [
  'id',
  'workerProfileId',
  'email',
  'emailVerifiedAt',
  'firstName',
  'lastName',
  'disabledAt',
  'version',
  'createdAt',
  'updatedAt',
] as const satisfies readonly (keyof Account)[];

const byEmail = statement((db, { emailKey, exactKey }: { emailKey: string; exactKey: string }) =>
  db
    .selectFrom('accounts')
    .where('emailKey', 'in', [emailKey, exactKey])
    .select([...ACCOUNT_COLUMNS, 'emailKey'])
    .$narrowType<AccountIds>(),
);

const byId = statement((db, { id }: { id: string }) =>
  db.selectFrom('accounts').where('id', '=', id).select(ACCOUNT_COLUMNS).$narrowType<AccountIds>(),
);

export function accountRows(writer: Writer): AccountRows {
  const db = camelCased(writer);
  // In byte order, where those with one beginning are a range of an index.
  const key = isPostgres(db) ? sql<string>`email_key collate "C"` : sql<string>`email_key`;
  return {
    findByEmail: async (email) => {
      const exactKey = exactEmailKeyOf(email);
      const { rows } = await byEmail(db, { emailKey: emailKeyOf(email), exactKey });
      const row = rows.find(({ emailKey }) => emailKey === exactKey) ?? rows[0];
      if (row === undefined) {
        return undefined;
      }
      const { emailKey: _, ...account } = row;
      return account;
    },
    find: async (id) => (await byId(db, { id })).rows[0],
    insert: async (account) => {
      const insertion = db
        .insertInto('accounts')
        .values(toRow(account))
        .onConflict((conflict) => conflict.column('emailKey').doNothing());
      return changedOne(await db.executeQuery(insertion));
    },
    update: async (account) => {
      const { emailKey, ...fields } = toRow(account);
      // Of two accounts of one mailbox, one is known by its exact address until it gets another.
      const isSame = sql`email = ${account.email}`;
      const update = db
        .updateTable('accounts')
        .set({
          ...fields,
          emailKey: sql<string>`case when ${isSame} then email_key else ${emailKey} end`,
          sameMailboxAs: sql<string | null>`case when ${isSame} then same_mailbox_as else null end`,
        })
        .where('id', '=', account.id);
      try {
        await update.execute();
      } catch (error) {
        throw UNIQUE_VIOLATIONS.has((error as { code?: unknown }).code) ? emailTaken(error) : error;
      }
    },
    clientsOf: async (id) => {
      const rows = await db
        .selectFrom('users')
        .where('accountId', '=', id)
        .select('clientId')
        .union(db.selectFrom('workers').where('accountId', '=', id).select('clientId'))
        .execute();
      return rows.map((row) => row.clientId as ClientId);
    },
    page: (after, limit, emailPrefix) =>
      db
        .selectFrom('accounts')
        .$if(after !== undefined, (from) => from.where(key, '>', String(after)))
        .$if(emailPrefix !== undefined, (from) =>
          from.where(key, '>=', String(emailPrefix)).where(key, '<', `${emailPrefix}\u{10ffff}`),
        )
        .orderBy(key)
        .limit(limit)
        .select([...ACCOUNT_COLUMNS, 'emailKey'])
        .$narrowType<AccountIds>()
        .execute(),
    contextsOf: (id) => contextsOf(db, id, { areFormer: false }),
    formerContextsOf: (id, instanceId) => contextsOf(db, id, { areFormer: true, instanceId }),
    namesAround: (id) => namesAround(writer, id),
  };
}

/** In many names, a client could give a person every word, so that no passphrase would be left. */
const MEMBERSHIPS_WITH_NAMES = 5;

/** Related to any person, in one statement: of what the person is on an instance, the first. */
async function namesAround(writer: Writer, id: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with members (client_id, full_name, created_at) as (
      select client_id, full_name, created_at from users where account_id = ${id} and status <> 'DELETED'
      union all
      select client_id, full_name, created_at from workers where account_id = ${id} and offboarded_at is null
    ), numbered (client_id, full_name, instance_id, number) as (
      select client_id, full_name, instance_id,
        row_number() over (partition by instance_id order by members.created_at, client_id)
      from members inner join clients on clients.id = members.client_id
    ), joined (client_id, full_name, instance_id) as (
      select client_id, full_name, instance_id from numbered where number <= ${MEMBERSHIPS_WITH_NAMES}
    ), places (id) as (
      select distinct instance_id from joined
    )
    select email as name from accounts where id = ${id}
    union all select coalesce(first_name, '') || ' ' || coalesce(last_name, '') from accounts where id = ${id}
    union all select coalesce(full_name, '') from joined
    union all select name from clients where id in (select client_id from joined)
    union all select name from instances where id in (select id from places)
    union all select applications.name from applications
      inner join application_redirect_uris on application_redirect_uris.application_id = applications.id
      where application_redirect_uris.instance_id in (select id from places)
  `.execute(writer);
  return rows.map(({ name }) => name);
}

/** Of each kind: nothing else limits how often a person comes and goes. */
const MOST_FORMER = 1_000;

interface Membership {
  areFormer: boolean;
  instanceId?: InstanceId | undefined;
}

async function contextsOf(db: Rows, id: AccountId, membership: Membership): Promise<AccountContext[]> {
  return (await Promise.all([usersOf(db, id, membership), workersOf(db, id, membership)])).flat();
}

async function usersOf(
  db: Rows,
  id: AccountId,
  { areFormer, instanceId }: Membership,
): Promise<AccountContext[]> {
  const rows = await db
    .selectFrom('users')
    .innerJoin('clients', 'clients.id', 'users.clientId')
    .where('users.accountId', '=', id)
    .where(areFormer ? sql<SqlBool>`users.status = 'DELETED'` : IS_PRESENT)
    .$if(instanceId !== undefined, (from) => from.where('clients.instanceId', '=', String(instanceId)))
    .orderBy('users.createdAt', areFormer ? 'desc' : 'asc')
    .orderBy('users.id', areFormer ? 'desc' : 'asc')
    .$if(areFormer, (from) => from.limit(MOST_FORMER))
    .select(['users.id', 'users.clientId', 'users.status', 'users.knownEmail', 'clients.instanceId'])
    .$narrowType<{ id: UserId } & Pick<AccountContext, 'clientId' | 'instanceId'>>()
    .execute();
  return rows.map(({ id: memberId, status, ...context }) => ({
    member: { kind: 'user', id: memberId },
    ...context,
    enabled: MAY_SIGN_IN.includes(status),
  }));
}

async function workersOf(
  db: Rows,
  id: AccountId,
  { areFormer, instanceId }: Membership,
): Promise<AccountContext[]> {
  const rows = await db
    .selectFrom('workers')
    .innerJoin('clients', 'clients.id', 'workers.clientId')
    .where('workers.accountId', '=', id)
    .where('workers.offboardedAt', areFormer ? 'is not' : 'is', null)
    .$if(instanceId !== undefined, (from) => from.where('clients.instanceId', '=', String(instanceId)))
    .orderBy('workers.createdAt', areFormer ? 'desc' : 'asc')
    .orderBy('workers.id', areFormer ? 'desc' : 'asc')
    .$if(areFormer, (from) => from.limit(MOST_FORMER))
    .select(['workers.id', 'workers.clientId', 'workers.email as knownEmail', 'clients.instanceId'])
    .$narrowType<{ id: WorkerId } & Pick<AccountContext, 'clientId' | 'instanceId'>>()
    .execute();
  return rows.map(({ id: memberId, ...context }) => ({
    member: { kind: 'worker', id: memberId },
    ...context,
    enabled: !areFormer,
  }));
}

function toRow(account: Account): Tables['accounts'] {
  return {
    ...account,
    emailKey: emailKeyOf(account.email),
    contractEmail: contractEmailFor(account.email),
    sameMailboxAs: null,
  };
}

const MOST_LISTED = 100;

/** Accounts that share a mailbox with another one. Each start asks for them, so they have an index. */
export function sharedMailboxes({ reader }: Pick<Database, 'reader'>) {
  return reader
    .selectFrom('accounts')
    .where('same_mailbox_as', 'is not', null)
    .orderBy('id')
    .limit(MOST_LISTED)
    .select(['id', 'same_mailbox_as as sameAs'])
    .$narrowType<{ sameAs: string }>()
    .execute();
}
