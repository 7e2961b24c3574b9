import type { Manager, User, UserStore } from '../../domain/directory/users.js';
import { camelCased } from '../camel-case.js';
import type { Database } from '../database.js';
import { keptPages, keptQuery } from './kept-query.js';
import { behind } from './keyset.js';
import { named } from './named.js';

export function userStore({ reader }: Database): UserStore {
  const db = camelCased(reader);
  const users = () =>
    db
      .selectFrom('users')
      .innerJoin('accounts as account', 'account.id', 'users.accountId')
      .leftJoin('users as manager', 'manager.id', 'users.managerId')
      .leftJoin('accounts as managerAccount', 'managerAccount.id', 'manager.accountId')
      .leftJoin('roles as role', 'role.id', 'users.roleId')
      .select(['users.id', 'users.clientId', 'users.firstName', 'users.lastName', 'users.fullName'])
      .select(['users.status', 'users.createdAt', 'account.email'])
      .select(['manager.id as managerId', 'manager.firstName as managerFirstName'])
      .select(['manager.lastName as managerLastName', 'manager.fullName as managerFullName'])
      .select(['managerAccount.email as managerEmail', 'role.id as roleId', 'role.name as roleName'])
      .$narrowType<Pick<User, 'id' | 'clientId'>>();

  const pages = keptPages(db, (clientId, page) =>
    users()
      .where('users.clientId', '=', clientId)
      .where('users.status', '!=', 'DELETED')
      .where(behind('users', page))
      .orderBy('users.createdAt')
      .orderBy('users.id')
      .limit(page.limit),
  );
  const oneOf = keptQuery(db, (clientId: string, id: string) =>
    users().where('users.clientId', '=', clientId).where('users.id', '=', id),
  );

  return {
    page: async (clientId, page) => (await pages(clientId, page)).map(toUser),
    find: async (clientId, id) => {
      const [row] = await oneOf(clientId, id);
      return row && toUser(row);
    },
  };
}

interface ManagerColumns {
  managerId: string | null;
  managerFirstName: string | null;
  managerLastName: string | null;
  managerFullName: string | null;
  managerEmail: string | null;
}

type Row = Omit<User, 'manager' | 'role'> &
  ManagerColumns & { roleId: string | null; roleName: string | null };

function toUser(row: Row): User {
  return {
    id: row.id,
    clientId: row.clientId,
    email: row.email,
    firstName: row.firstName,
    lastName: row.lastName,
    fullName: row.fullName,
    status: row.status,
    manager: managerIn(row),
    role: named(row.roleId, row.roleName),
    createdAt: row.createdAt,
  };
}

export function managerIn(row: ManagerColumns): Manager | null {
  if (row.managerId === null || row.managerEmail === null) {
    return null;
  }
  return {
    id: row.managerId as Manager['id'],
    firstName: row.managerFirstName,
    lastName: row.managerLastName,
    fullName: row.managerFullName,
    email: row.managerEmail,
  };
}
