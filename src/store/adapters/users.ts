import type { ClientId, UserId } from '../../../generated/ids.js';
import type { User, UserStatus, UserStore } from '../../domain/directory/users.js';
import type { Database } from '../database.js';
import { keptPages, keptQuery } from './kept-query.js';
import { behind } from './keyset.js';

export function userStore({ reader }: Database): UserStore {
  const users = () =>
    reader
      .selectFrom('users')
      .innerJoin('accounts as account', 'account.id', 'users.account_id')
      .leftJoin('users as manager', 'manager.id', 'users.manager_id')
      .leftJoin('accounts as manager_account', 'manager_account.id', 'manager.account_id')
      .leftJoin('roles as role', 'role.id', 'users.role_id')
      .select(['users.id', 'users.client_id', 'users.first_name', 'users.last_name', 'users.full_name'])
      .select(['users.status', 'users.created_at', 'account.email'])
      .select(['manager.id as manager_id', 'manager.first_name as manager_first_name'])
      .select(['manager.last_name as manager_last_name', 'manager.full_name as manager_full_name'])
      .select(['manager_account.email as manager_email', 'role.id as role_id', 'role.name as role_name']);

  const pages = keptPages(reader, (clientId, page) =>
    users()
      .where('users.client_id', '=', clientId)
      .where('users.status', '!=', 'DELETED')
      .where(behind('users', page))
      .orderBy('users.created_at')
      .orderBy('users.id')
      .limit(page.limit),
  );
  const oneOf = keptQuery(reader, (clientId: string, id: string) =>
    users().where('users.client_id', '=', clientId).where('users.id', '=', id),
  );

  return {
    page: async (clientId, page) => (await pages(clientId, page)).map(toUser),
    find: async (clientId, id) => {
      const [row] = await oneOf(clientId, id);
      return row && toUser(row);
    },
  };
}

interface UserRow {
  id: string;
  client_id: string;
  first_name: string | null;
  last_name: string | null;
  full_name: string | null;
  status: UserStatus;
  created_at: number;
  email: string;
  manager_id: string | null;
  manager_first_name: string | null;
  manager_last_name: string | null;
  manager_full_name: string | null;
  manager_email: string | null;
  role_id: string | null;
  role_name: string | null;
}

function toUser(row: UserRow): User {
  return {
    id: row.id as UserId,
    clientId: row.client_id as ClientId,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    fullName: row.full_name,
    status: row.status,
    manager:
      row.manager_id === null || row.manager_email === null
        ? null
        : {
            id: row.manager_id as UserId,
            firstName: row.manager_first_name,
            lastName: row.manager_last_name,
            fullName: row.manager_full_name,
            email: row.manager_email,
          },
    role: row.role_id === null || row.role_name === null ? null : { id: row.role_id, name: row.role_name },
    createdAt: row.created_at,
  };
}
