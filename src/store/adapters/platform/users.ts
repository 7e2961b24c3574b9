import { type InferResult, type SqlBool, sql } from 'kysely';
import type { UserId } from '../../../../generated/ids.js';
import type { RoleHolders, User, UserRows, UserView } from '../../../domain/platform/rows/people.js';
import { camelCased, type Rows, type Writer } from '../../database.js';
import { IS_PRESENT } from '../directory.js';
import { namedOrNull } from '../directory-columns.js';
import { inList } from '../statements/dialect.js';
import { counted, findsAny, statement } from '../statements/kept-statement.js';
import { oldestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';
import { isBelow } from './hierarchy.js';
import { ownerRole } from './roles.js';

const byId = statement((db, { id }: { id: string }) => views(db).where('users.id', '=', id));

const byIds = statement((db, { ids }: { ids: string }) => oldestViews(db).where(inList(db, 'users.id', ids)));

/** So that a search by an address does not tell a client which later address a person has. */
const showsAddressOfAccount = sql<SqlBool>`
  coalesce(users.known_email = coalesce(account.contract_email, account.email), true)
`;

export function userRows(writer: Writer): UserRows {
  const db = camelCased(writer);
  const { insert, update, updateMany } = plainWrites(db, 'users');
  return {
    find: async (id) => {
      const row = (await byId(db, { id })).rows[0];
      return row && toView(row);
    },
    findAll: async (ids) => (await byIds(db, { ids: JSON.stringify(ids) })).rows.map(toView),
    page: async (page, { clientId, statuses, emailKeys }) => {
      const found = views(db)
        .where('users.status', 'in', statuses)
        .$if(!statuses.includes('DELETED'), (query) => query.where(IS_PRESENT));
      const ofClient =
        emailKeys === undefined
          ? found.where('users.clientId', '=', clientId)
          : // In a form that fits no index: SQLite would read all users of the client, in their order.
            found
              .where(sql<SqlBool>`users.client_id || '' = ${clientId}`)
              .where('account.emailKey', 'in', emailKeys)
              .where(showsAddressOfAccount);
      return (await oldestFirst(ofClient, 'users', page)).map(toView);
    },
    ofAccount: async (id) => (await oldestViews(db).where('users.accountId', '=', id).execute()).map(toView),
    withRole: async (holders) => (await oldestViews(db).where(having(db, holders)).execute()).map(toView),
    countWithRole: (holders, limit) => counted(db.selectFrom('users').where(having(db, holders)), limit),
    countReports: (id, limit) =>
      counted(db.selectFrom('users').where('managerId', '=', id).where('status', '!=', 'DELETED'), limit),
    anyOf: (clientId) => {
      const users = db.selectFrom('users').where('clientId', '=', clientId).where('status', '!=', 'DELETED');
      return findsAny(users.select('id'));
    },
    firstOwner: async (clientId) => {
      // By role: a client may have many users, and no owner among them.
      const row = await db
        .selectFrom('users')
        .where('roleId', 'in', ownerRole(db, clientId))
        .where('status', '!=', 'DELETED')
        .orderBy('createdAt')
        .orderBy('id')
        .limit(1)
        .select('id')
        .executeTakeFirst();
      return row?.id as UserId | undefined;
    },
    reportsTo: isBelow(db, 'users', 'managerId'),
    insert: (user) => insert(toRow(user)),
    update,
    rewrite: updateMany,
  };
}

function views(db: Rows) {
  return db
    .selectFrom('users')
    .innerJoin('clients as client', 'client.id', 'users.clientId')
    .innerJoin('accounts as account', 'account.id', 'users.accountId')
    .leftJoin('users as manager', 'manager.id', 'users.managerId')
    .leftJoin('accounts as managerAccount', 'managerAccount.id', 'manager.accountId')
    .leftJoin('roles as role', 'role.id', 'users.roleId')
    .leftJoin('emailChanges as change', (join) =>
      join.onRef('change.accountId', '=', 'users.accountId').onRef('change.asker', '=', 'users.clientId'),
    )
    .selectAll('users')
    .select(['change.email as changeEmail', 'change.askedAt as changeAskedAt'])
    .select('change.expiresAt as changeExpiresAt')
    .select(['client.instanceId', 'account.email as accountEmail', 'role.name as roleName'])
    .select(['manager.firstName as managerFirstName', 'manager.lastName as managerLastName'])
    .select(['manager.fullName as managerFullName', 'manager.knownEmail as managerKnownEmail'])
    .select('managerAccount.email as managerEmail')
    .$narrowType<Pick<UserView, 'id' | 'clientId' | 'instanceId' | 'accountId' | 'managerId'>>();
}

function oldestViews(db: Rows) {
  return views(db).orderBy('users.createdAt').orderBy('users.id');
}

function having(db: Rows, { roleId, areDeleted, among }: RoleHolders) {
  const comparison = sql.raw(areDeleted ? '=' : '<>');
  const conditions = [
    sql<SqlBool>`users.role_id = ${roleId}`,
    sql<SqlBool>`users.status ${comparison} ${'DELETED'}`,
    ...(among ? [inList(db, 'users.id', JSON.stringify(among))] : []),
  ];
  return sql.join<SqlBool>(conditions, sql` and `);
}

type Row = InferResult<ReturnType<typeof views>>[number];

/** Lists the fields: to take an object of so many apart takes several times as long. */
function toView(row: Row): UserView {
  return {
    ...toRow(row),
    instanceId: row.instanceId,
    email: row.knownEmail ?? row.accountEmail,
    pendingEmail: pendingEmailIn(row),
    manager: managerIn(row),
    role: namedOrNull(row.roleId, row.roleName),
  };
}

function pendingEmailIn({ changeEmail, changeAskedAt, changeExpiresAt }: Row): UserView['pendingEmail'] {
  return changeEmail === null || changeAskedAt === null || changeExpiresAt === null
    ? null
    : { email: changeEmail, askedAt: changeAskedAt, expiresAt: changeExpiresAt };
}

function managerIn(row: Row): UserView['manager'] {
  return row.managerId === null || row.managerEmail === null
    ? null
    : {
        id: row.managerId,
        firstName: row.managerFirstName,
        lastName: row.managerLastName,
        fullName: row.managerFullName,
        email: row.managerKnownEmail ?? row.managerEmail,
      };
}

/** Without what belongs to other rows. */
function toRow(user: User): User {
  return {
    id: user.id,
    clientId: user.clientId,
    accountId: user.accountId,
    firstName: user.firstName,
    lastName: user.lastName,
    fullName: user.fullName,
    status: user.status,
    managerId: user.managerId,
    roleId: user.roleId,
    knownEmail: user.knownEmail,
    version: user.version,
    createdAt: user.createdAt,
    updatedAt: user.updatedAt,
  };
}
