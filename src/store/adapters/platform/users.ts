import type { AccountId, ClientId, InstanceId, UserId } from '../../../../generated/ids.js';
import { OWNER } from '../../../domain/platform/built-in-roles.js';
import type { User, UserRows, UserView } from '../../../domain/platform/users.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { behind } from '../keyset.js';

export function userRows(writer: Writer): UserRows {
  return {
    find: async (id) => {
      const row = await views(writer).where('users.id', '=', id).executeTakeFirst();
      return row && toView(row);
    },
    page: async (page, { clientId, statuses, emailKey }) => {
      const rows = await views(writer)
        .where('users.client_id', '=', clientId)
        .where('users.status', 'in', statuses)
        .$if(emailKey !== undefined, (query) => query.where('account.email_key', '=', emailKey as string))
        .where(behind('users', page))
        .orderBy('users.created_at')
        .orderBy('users.id')
        .limit(page.limit)
        .execute();
      return rows.map(toView);
    },
    ofAccount: (id) => allWhere(writer, 'account_id', id),
    withRole: (roleId) => allWhere(writer, 'role_id', roleId),
    anyOf: async (clientId) => {
      const users = writer.selectFrom('users').where('client_id', '=', clientId).select('id').limit(1);
      return (await users.executeTakeFirst()) !== undefined;
    },
    firstOwner: async (clientId) => {
      const row = await writer
        .selectFrom('users')
        .innerJoin('roles', 'roles.id', 'users.role_id')
        .where('users.client_id', '=', clientId)
        .where('users.status', '!=', 'DELETED')
        .where('roles.built_in', '=', 1)
        .where('roles.name', '=', OWNER)
        .orderBy('users.created_at')
        .orderBy('users.id')
        .limit(1)
        .select('users.id')
        .executeTakeFirst();
      return row?.id as UserId | undefined;
    },
    insert: async (user) => {
      await writer.insertInto('users').values(toRow(user)).execute();
    },
    update: async (user) => {
      await writer.updateTable('users').set(toRow(user)).where('id', '=', user.id).execute();
    },
  };
}

function views(writer: Writer) {
  return writer
    .selectFrom('users')
    .innerJoin('clients as client', 'client.id', 'users.client_id')
    .innerJoin('accounts as account', 'account.id', 'users.account_id')
    .leftJoin('users as manager', 'manager.id', 'users.manager_id')
    .leftJoin('accounts as manager_account', 'manager_account.id', 'manager.account_id')
    .leftJoin('roles as role', 'role.id', 'users.role_id')
    .leftJoin('email_changes as change', (join) =>
      join.onRef('change.account_id', '=', 'users.account_id').onRef('change.asker', '=', 'users.client_id'),
    )
    .selectAll('users')
    .select(['change.email as change_email', 'change.asked_at as change_asked_at'])
    .select('change.expires_at as change_expires_at')
    .select(['client.instance_id', 'account.email', 'role.name as role_name'])
    .select(['manager.first_name as manager_first_name', 'manager.last_name as manager_last_name'])
    .select(['manager.full_name as manager_full_name', 'manager_account.email as manager_email']);
}

async function allWhere(writer: Writer, column: 'account_id' | 'role_id', id: string): Promise<UserView[]> {
  const rows = await views(writer)
    .where(`users.${column}`, '=', id)
    .orderBy('users.created_at')
    .orderBy('users.id')
    .execute();
  return rows.map(toView);
}

type Row = Schema['users'] & {
  instance_id: string;
  email: string;
  change_email: string | null;
  change_asked_at: number | null;
  change_expires_at: number | null;
  role_name: string | null;
  manager_first_name: string | null;
  manager_last_name: string | null;
  manager_full_name: string | null;
  manager_email: string | null;
};

function toView(row: Row): UserView {
  return {
    id: row.id as UserId,
    clientId: row.client_id as ClientId,
    instanceId: row.instance_id as InstanceId,
    accountId: row.account_id as AccountId,
    email: row.email,
    pendingEmail: pendingEmailOf(row),
    firstName: row.first_name,
    lastName: row.last_name,
    fullName: row.full_name,
    status: row.status,
    managerId: row.manager_id as UserId | null,
    manager: managerOf(row),
    roleId: row.role_id,
    role: row.role_id === null || row.role_name === null ? null : { id: row.role_id, name: row.role_name },
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function pendingEmailOf(row: Row): UserView['pendingEmail'] {
  const { change_email: email, change_asked_at: askedAt, change_expires_at: expiresAt } = row;
  return email === null || askedAt === null || expiresAt === null ? null : { email, askedAt, expiresAt };
}

function managerOf(row: Row): UserView['manager'] {
  if (row.manager_id === null || row.manager_email === null) {
    return null;
  }
  return {
    id: row.manager_id as UserId,
    firstName: row.manager_first_name,
    lastName: row.manager_last_name,
    fullName: row.manager_full_name,
    email: row.manager_email,
  };
}

function toRow(user: User): Schema['users'] {
  return {
    id: user.id,
    client_id: user.clientId,
    account_id: user.accountId,
    first_name: user.firstName,
    last_name: user.lastName,
    full_name: user.fullName,
    status: user.status,
    manager_id: user.managerId,
    role_id: user.roleId,
    version: user.version,
    created_at: user.createdAt,
    updated_at: user.updatedAt,
  };
}
