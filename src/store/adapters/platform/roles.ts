import { type SqlBool, sql } from 'kysely';
import type { ClientId } from '../../../../generated/ids.js';
import type { PageRequest } from '../../../domain/directory/page.js';
import { OWNER } from '../../../domain/platform/built-in-roles.js';
import type { Role, RoleRows } from '../../../domain/platform/roles.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';

export function roleRows(writer: Writer): RoleRows {
  return {
    find: async (id) => {
      const row = await writer.selectFrom('roles').where('id', '=', id).selectAll().executeTakeFirst();
      return row && toRole(row);
    },
    page: async (page, clientId) => {
      const rows = await writer
        .selectFrom('roles')
        .where('client_id', '=', clientId)
        .where(behindRole(page))
        .orderBy('built_in', 'desc')
        .orderBy('created_at')
        .orderBy('id')
        .limit(page.limit)
        .selectAll()
        .execute();
      return rows.map(toRole);
    },
    names: async (clientId) => {
      const roles = writer.selectFrom('roles').where('client_id', '=', clientId).select('name');
      return new Set((await roles.execute()).map(({ name }) => name));
    },
    ownerOf: async (clientId) => {
      const row = await writer
        .selectFrom('roles')
        .where('client_id', '=', clientId)
        .where('built_in', '=', 1)
        .where('name', '=', OWNER)
        .select('id')
        .executeTakeFirst();
      return row?.id;
    },
    insert: async (role) => {
      await writer.insertInto('roles').values(toRow(role)).execute();
    },
    delete: async (id) => {
      await writer.deleteFrom('roles').where('id', '=', id).execute();
    },
  };
}

/** Built-in roles stand before the others. A role that is gone from its position was none of them: those are never deleted. */
function behindRole({ after }: PageRequest) {
  return after
    ? sql<SqlBool>`(-built_in, created_at, id) > (coalesce((select -built_in from roles where id = ${after.id}), 0), ${after.createdAt}, ${after.id})`
    : sql<SqlBool>`1 = 1`;
}

function toRole(row: Schema['roles']): Role {
  return {
    id: row.id,
    clientId: row.client_id as ClientId,
    name: row.name,
    builtIn: row.built_in === 1,
    permissions: JSON.parse(row.permissions) as string[],
    version: row.version,
    createdAt: row.created_at,
  };
}

function toRow(role: Role): Schema['roles'] {
  return {
    id: role.id,
    client_id: role.clientId,
    name: role.name,
    built_in: role.builtIn ? 1 : 0,
    permissions: JSON.stringify(role.permissions),
    version: role.version,
    created_at: role.createdAt,
  };
}
